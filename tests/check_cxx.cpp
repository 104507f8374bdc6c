/* SPDX-License-Identifier: MIT
 *
 * check_cxx.cpp - nlock.hpp with what the standard library offers to lock things with
 *
 * Built as C++11 and as C++17. A test is a sentence; it fails by an exception. What must not happen is not waited for: where a time
 * has to pass, it is one that has passed, or that never does.
 */
#include <nlock.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#if __cplusplus >= 201402L
#include <shared_mutex>
#endif

namespace
{

const int turns = 2000, threads = 4;

void must(bool cond, const char *what, int line)
{
	if (!cond)
		throw std::logic_error("line " + std::to_string(line) + ": " + what);
}
#define MUST(cond) must(cond, #cond, __LINE__)

/* f must throw std::system_error with this code. */
bool throws(int code, const std::function<void()> &f)
{
	try {
		f();
	} catch (const std::system_error &e) {
		return e.code() == std::error_code(code, std::generic_category());
	}
	return false;
}

void in_threads(int n, const std::function<void(int)> &f)
{
	std::vector<std::thread> all;

	for (int i = 0; i < n; i++)
		all.emplace_back(f, i);
	for (auto &t : all)
		t.join();
}

/* A clock that is neither of the kernel's. */
struct other_clock {
	typedef std::chrono::milliseconds duration;
	typedef duration::rep rep;
	typedef duration::period period;
	typedef std::chrono::time_point<other_clock> time_point;
	static const bool is_steady = true;
	static time_point now()
	{
		return time_point(std::chrono::duration_cast<duration>(
			std::chrono::steady_clock::now().time_since_epoch() + std::chrono::hours(1000)));
	}
};

static_assert(other_clock::is_steady, "as std::condition_variable_any would ask");

/* All that a timed call may be given: what has passed, and what never will. */
template <class Lock> void times_work(const std::function<bool(Lock &)> &holds, Lock &taken)
{
	using namespace std::chrono;

	MUST(!taken.try_lock_for(milliseconds(-1)));
	MUST(!taken.try_lock_for(seconds(0)));
	MUST(!taken.try_lock_for(duration<double>(1e-6)));
	MUST(!taken.try_lock_for(nanoseconds::min()));
	MUST(!taken.try_lock_until(steady_clock::now()));
	MUST(!taken.try_lock_until(steady_clock::time_point::min()));
	MUST(!taken.try_lock_until(system_clock::now() + milliseconds(1)));
	MUST(!taken.try_lock_until(other_clock::now() + milliseconds(2)));
	MUST(holds(taken));
}

/* ---------------------------------------------------------------- mutex */

nlock::mutex global; /* before main, without a call */

void a_mutex_works_with_lock_guard()
{
	long count = 0;

	in_threads(threads, [&](int) {
		for (int i = 0; i < turns; i++) {
			std::lock_guard<nlock::mutex> hold(global);
			count++;
		}
	});
	MUST(count == (long)threads * turns);
}

void each_release_may_be_of_its_own_kind()
{
	nlock::mutex m(NLOCK_FIFO);
	long count = 0;

	in_threads(threads, [&](int me) {
		for (int i = 0; i < turns / 10; i++) {
			m.lock();
			count++;
			if (i % 8 == 0)
				m.bump();
			if (me % 3 == 0)
				m.unlock();
			else if (me % 3 == 1)
				m.unlock_fair();
			else
				m.unlock_barging();
		}
	});
	MUST(count == (long)threads * (turns / 10));
	MUST(throws(EPERM, [&] { m.bump(); }));
}

void a_mutex_is_tried_and_timed()
{
	nlock::mutex m;

	MUST(m.try_lock());
	MUST(!m.try_lock());
	times_work<nlock::mutex>([](nlock::mutex &x) { return !x.try_lock(); }, m);
	m.unlock();
	MUST(m.try_lock_for(std::chrono::hours::max()));
	m.unlock();
	MUST(m.try_lock_until(std::chrono::steady_clock::time_point::max()));
	m.unlock();
	MUST(m.try_lock_until(std::chrono::system_clock::time_point::max()));
	m.unlock();
	std::unique_lock<nlock::mutex> hold(m, std::chrono::seconds(0));
	MUST(hold.owns_lock());
	MUST(m.native_handle() == hold.mutex()->native_handle());
}

void several_mutexes_are_locked_at_once()
{
	nlock::mutex a, b(NLOCK_FIFO);
	long count = 0;

	in_threads(threads, [&](int me) {
		for (int i = 0; i < turns / 4; i++) {
			nlock::mutex &first = me % 2 ? a : b, &second = me % 2 ? b : a;
			std::lock(first, second);
			std::lock_guard<nlock::mutex> one(first, std::adopt_lock), two(second, std::adopt_lock);
			count++;
		}
#if __cplusplus >= 201703L
		std::scoped_lock both(a, b);
		count += 0;
#endif
	});
	MUST(count == (long)threads * (turns / 4));
}

void any_condition_variable_takes_a_mutex()
{
	nlock::mutex m;
	std::condition_variable_any c;
	int phase = 0;

	std::thread t([&] {
		std::unique_lock<nlock::mutex> hold(m);
		c.wait(hold, [&] { return phase == 1; });
		phase = 2;
		c.notify_all();
	});
	{
		std::unique_lock<nlock::mutex> hold(m);
		phase = 1;
		c.notify_all();
		c.wait(hold, [&] { return phase == 2; });
	}
	t.join();
}

void bad_attributes_throw()
{
	MUST(throws(EINVAL, [] { nlock::mutex m(NLOCK_BAD_ATTR); }));
	MUST(throws(EINVAL, [] { nlock::shared_mutex m(77); }));
	MUST(throws(EINVAL, [] { nlock::condition_variable c(NLOCK_BAD_ATTR); }));
	MUST(throws(EINVAL, [] { nlock::semaphore s(NLOCK_SEM_VALUE_MAX + 1u); }));
	MUST(throws(EINVAL, [] { nlock::barrier b(0); }));
	MUST(throws(EINVAL, [] { nlock::barrier b(2, NLOCK_FIFO); }));
}

void nothing_is_copied_and_defaults_need_no_call()
{
	static_assert(!std::is_copy_constructible<nlock::mutex>::value, "");
	static_assert(!std::is_copy_constructible<nlock::shared_mutex>::value, "");
	static_assert(!std::is_copy_constructible<nlock::condition_variable>::value, "");
	static_assert(!std::is_copy_constructible<nlock::semaphore>::value, "");
	static_assert(!std::is_copy_constructible<nlock::barrier>::value, "");
	static_assert(!std::is_copy_constructible<nlock::once_flag>::value, "");
	static_assert(std::is_nothrow_default_constructible<nlock::mutex>::value, "");
	static_assert(std::is_trivially_destructible<nlock::mutex>::value, "");
	static_assert(sizeof(nlock::mutex) == sizeof(nlock_mutex_t), "");
	static_assert(sizeof(nlock::barrier) == sizeof(nlock_barrier_t), "");
}

void times_are_rounded_up_and_saturate()
{
	using namespace std::chrono;
	using nlock::detail::to_timespec;

	MUST(to_timespec(nanoseconds(1)).tv_nsec == 1);
	MUST(to_timespec(duration<long long, std::pico>(1)).tv_nsec == 1);
	MUST(to_timespec(duration<long long, std::pico>(999999999001LL)).tv_sec == 1);
	MUST(to_timespec(duration<long long, std::pico>(999999999001LL)).tv_nsec == 0);
	MUST(to_timespec(milliseconds(1500)).tv_sec == 1);
	MUST(to_timespec(milliseconds(1500)).tv_nsec == 500000000);
	MUST(to_timespec(hours::max()).tv_sec == nlock::detail::far());
	MUST(to_timespec(hours::min()).tv_sec == 0);
	MUST(to_timespec(duration<double>(1e300)).tv_sec == nlock::detail::far());
	MUST(nlock::detail::from_now(hours::max()).tv_sec > nlock::detail::far() - 1);
}

/* ---------------------------------------------------------------- barrier */

void a_barrier_has_one_serial_thread_a_round()
{
	std::atomic<int> serials(0);
	nlock::barrier b(threads);
	long did[threads] = {};

	in_threads(threads, [&](int me) {
		for (int r = 1; r <= turns / 4; r++) {
			did[me] = r;
			serials += b.arrive_and_wait();
			for (int i = 0; i < threads; i++)
				MUST(did[i] == r);
			b.arrive_and_wait();
		}
	});
	MUST(serials == turns / 4);
}

void the_serial_thread_may_delete_the_barrier()
{
	for (int i = 0; i < turns / 10; i++) {
		nlock::barrier *b = new nlock::barrier(3);
		in_threads(3, [b](int) {
			if (b->arrive_and_wait())
				delete b;
		});
	}
}

/* ---------------------------------------------------------------- shared_mutex */

void readers_share_and_writers_do_not()
{
	nlock::shared_mutex rw;
	long left = 0, right = 0;

	in_threads(threads, [&](int me) {
		for (int i = 0; i < turns / 4; i++) {
			if ((i + me) % 4 == 0) {
				std::lock_guard<nlock::shared_mutex> hold(rw);
				left++;
				right++;
			} else {
#if __cplusplus >= 201402L
				std::shared_lock<nlock::shared_mutex> hold(rw);
				MUST(left == right);
#else
				rw.lock_shared();
				MUST(left == right);
				rw.unlock_shared();
#endif
			}
		}
	});
	MUST(left == (long)threads * (turns / 16));
}

void a_shared_mutex_is_tried_and_timed()
{
	nlock::shared_mutex rw(NLOCK_RW_PREFER_WRITERS);

	MUST(rw.try_lock());
	MUST(!rw.try_lock() && !rw.try_lock_shared());
	times_work<nlock::shared_mutex>([](nlock::shared_mutex &x) { return !x.try_lock_shared(); }, rw);
	MUST(!rw.try_lock_shared_for(std::chrono::milliseconds(1)));
	MUST(!rw.try_lock_shared_until(std::chrono::steady_clock::now()));
	MUST(!rw.try_lock_shared_until(other_clock::now()));
	rw.downgrade();
	MUST(rw.try_lock_shared());
	MUST(!rw.try_upgrade()); /* two read */
	rw.unlock_shared();
	MUST(rw.try_upgrade());
	MUST(!rw.try_lock_shared());
	rw.unlock();
	MUST(rw.try_lock_shared_for(std::chrono::hours::max()));
	rw.unlock_shared();
}

/* ---------------------------------------------------------------- condition_variable */

void a_condition_variable_passes_a_turn_on()
{
	nlock::mutex m;
	nlock::condition_variable c;
	int turn = 0;

	in_threads(threads, [&](int me) {
		for (int i = 0; i < turns / 10; i++) {
			std::unique_lock<nlock::mutex> hold(m);
			c.wait(hold, [&] { return turn % threads == me; });
			turn++;
			c.notify_all();
		}
	});
	MUST(turn == threads * (turns / 10));
}

void waiting_for_what_does_not_come_times_out()
{
	using namespace std::chrono;
	nlock::mutex m;
	nlock::condition_variable c;
	std::unique_lock<nlock::mutex> hold(m);

	MUST(!c.wait_for(hold, milliseconds(1), [] { return false; }));
	MUST(!c.wait_until(hold, steady_clock::now() + milliseconds(1), [] { return false; }));
	MUST(!c.wait_until(hold, system_clock::now() + milliseconds(1), [] { return false; }));
	MUST(!c.wait_until(hold, other_clock::now() + milliseconds(2), [] { return false; }));
	MUST(c.wait_for(hold, hours::max(), [] { return true; }));
	while (c.wait_for(hold, milliseconds(1)) != std::cv_status::timeout)
		;
	while (c.wait_until(hold, steady_clock::now()) != std::cv_status::timeout)
		;
	MUST(hold.owns_lock() && !m.try_lock());
	c.notify_one();
}

/* ---------------------------------------------------------------- semaphore */

void a_semaphore_counts()
{
	nlock::semaphore s(2), done(0);

	s.acquire();
	MUST(s.try_acquire());
	MUST(!s.try_acquire());
	MUST(!s.try_acquire_for(std::chrono::milliseconds(1)));
	MUST(!s.try_acquire_until(std::chrono::system_clock::now()));
	MUST(!s.try_acquire_until(other_clock::now()));
	s.release(3);
	MUST(s.value() == 3);
	MUST(throws(EOVERFLOW, [&] { s.release(NLOCK_SEM_VALUE_MAX); }));
	in_threads(3, [&](int) {
		s.acquire();
		done.release();
	});
	MUST(done.value() == 3 && s.value() == 0);
	MUST(done.try_acquire_for(std::chrono::hours::max()));
}

/* ---------------------------------------------------------------- call_once */

void an_initialiser_that_throws_is_called_again_and_one_that_returns_is_not()
{
	nlock::once_flag flag;
	int calls = 0;

	for (int i = 0; i < 2; i++) {
		bool has_thrown = false;
		try {
			nlock::call_once(flag, [&] {
				calls++;
				throw std::runtime_error("not yet");
			});
		} catch (const std::runtime_error &) {
			has_thrown = true;
		}
		MUST(has_thrown);
	}
	in_threads(threads, [&](int) {
		nlock::call_once(
			flag, [&](int n) { calls += n; }, 5);
		MUST(calls == 7);
	});
	MUST(calls == 7);
}

const struct {
	const char *sentence;
	void (*run)();
} tests[] = {
#define T(f) \
	{ \
#f, f \
	}
	T(a_mutex_works_with_lock_guard),
	T(each_release_may_be_of_its_own_kind),
	T(a_mutex_is_tried_and_timed),
	T(several_mutexes_are_locked_at_once),
	T(any_condition_variable_takes_a_mutex),
	T(bad_attributes_throw),
	T(nothing_is_copied_and_defaults_need_no_call),
	T(times_are_rounded_up_and_saturate),
	T(a_barrier_has_one_serial_thread_a_round),
	T(the_serial_thread_may_delete_the_barrier),
	T(readers_share_and_writers_do_not),
	T(a_shared_mutex_is_tried_and_timed),
	T(a_condition_variable_passes_a_turn_on),
	T(waiting_for_what_does_not_come_times_out),
	T(a_semaphore_counts),
	T(an_initialiser_that_throws_is_called_again_and_one_that_returns_is_not),
#undef T
};

} // namespace

int main()
{
	int failed = 0, n = 0;

	for (const auto &t : tests) {
		n++;
		try {
			t.run();
		} catch (const std::exception &e) {
			std::printf("FAIL  %s: %s\n", t.sentence, e.what());
			failed++;
		}
	}
	std::printf("C++ of %ld: %d passed, %d failed\n", (long)__cplusplus, n - failed, failed);
	return failed != 0;
}
