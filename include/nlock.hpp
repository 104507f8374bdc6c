/* SPDX-License-Identifier: MIT
 *
 * nlock.hpp - nlock.h for C++: the names of the standard library, and the choices of nlock
 *
 * Header only, C++11 or later. What each call promises is said in nlock.h; here is only what is different:
 *  - std::lock_guard, unique_lock, shared_lock, scoped_lock, std::lock and std::condition_variable_any work with the mutexes.
 *  - A constructor without attributes is the default, constexpr and without a call; one with attributes throws std::system_error
 *    if they are not to be had. Elsewhere an error that is not an answer throws the same.
 *  - Times: std::chrono::steady_clock and system_clock are the kernel's two clocks, other clocks are looked at again and again. Times
 *    that are too large mean for ever; nothing overflows.
 *  - Nothing is copied or moved. Destructors free nothing and make no call, but that of barrier, which waits for threads that are
 *    still on their way out of it.
 *  - native_handle() is the object of nlock.h: all functions there may be used on it.
 *
 *	nlock::mutex m;                                    // bounded: nobody starves
 *	nlock::mutex f(NLOCK_FIFO);                        // each release hands over
 *	{ std::lock_guard<nlock::mutex> hold(m); ... }
 */
#ifndef NLOCK_HPP
#define NLOCK_HPP

#include <nlock.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <system_error>
#include <time.h>
#include <type_traits>
#include <utility>

namespace nlock
{

namespace detail
{

inline void must(int rc, const char *what)
{
	if (rc)
		throw std::system_error(rc, std::generic_category(), what);
}

/* One that means for ever, and can be added to. */
inline time_t far()
{
	return std::numeric_limits<time_t>::max() / 4;
}

/* Rounded up, so that nobody is early; not below zero, which is past already. */
template <class Rep, class Period> timespec to_timespec(const std::chrono::duration<Rep, Period> &d)
{
	typedef std::chrono::duration<long double> real;
	timespec t = timespec();

	if (!(d > d.zero()))
		return t;
	if (real(d).count() >= static_cast<long double>(far())) {
		t.tv_sec = far();
		return t;
	}
	const std::chrono::seconds s = std::chrono::duration_cast<std::chrono::seconds>(d);
	std::chrono::nanoseconds ns = std::chrono::duration_cast<std::chrono::nanoseconds>(d - s);
	if (ns < d - s)
		++ns;
	t.tv_sec = static_cast<time_t>(s.count()) + (ns.count() >= 1000000000);
	t.tv_nsec = static_cast<long>(ns.count() % 1000000000);
	return t;
}

template <class Rep, class Period> timespec from_now(const std::chrono::duration<Rep, Period> &d)
{
	timespec t = to_timespec(d), now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	t.tv_sec += now.tv_sec;
	t.tv_nsec += now.tv_nsec;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

/* until(abs, attempt): attempt(clock, &timespec) gives 0, ETIMEDOUT or an error. A clock that is not the kernel's is asked again
 * after each attempt. */
template <class Duration, class Attempt>
int until(const std::chrono::time_point<std::chrono::steady_clock, Duration> &abs, Attempt attempt)
{
	const timespec t = to_timespec(abs.time_since_epoch());
	return attempt(CLOCK_MONOTONIC, &t);
}

template <class Duration, class Attempt>
int until(const std::chrono::time_point<std::chrono::system_clock, Duration> &abs, Attempt attempt)
{
	const timespec t = to_timespec(abs.time_since_epoch());
	return attempt(CLOCK_REALTIME, &t);
}

template <class Clock, class Duration, class Attempt>
int until(const std::chrono::time_point<Clock, Duration> &abs, Attempt attempt)
{
	for (;;) {
		const timespec t = from_now(abs - Clock::now());
		const int rc = attempt(CLOCK_MONOTONIC, &t);
		if (rc != static_cast<int>(std::errc::timed_out) || Clock::now() >= abs)
			return rc;
	}
}

/* True: done; false: timed out. */
inline bool is_done(int rc, const char *what)
{
	if (rc == static_cast<int>(std::errc::timed_out))
		return false;
	must(rc, what);
	return true;
}

template <class F> void call(void *f)
{
	(*static_cast<F *>(f))();
}

} // namespace detail

/* ------------------------------------------------------------------ mutex: Lockable, TimedLockable */

class mutex
{
      public:
	typedef nlock_mutex_t *native_handle_type;

	constexpr mutex() noexcept : m_ NLOCK_MUTEX_INIT
	{
	}
	explicit mutex(nlock_attr_t attr)
	{
		detail::must(nlock_mutex_init(&m_, attr), "nlock::mutex");
	}
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	void lock()
	{
		detail::must(nlock_mutex_lock(&m_), "nlock::mutex::lock");
	}
	bool try_lock() noexcept
	{
		return !nlock_mutex_trylock(&m_);
	}

	/* Misuse is what a debugger is for: as in the standard library, an unlock reports nothing. */
	void unlock() noexcept
	{
		nlock_mutex_unlock(&m_);
	}
	void unlock_fair() noexcept
	{
		nlock_mutex_unlock_fair(&m_);
	}
	void unlock_barging() noexcept
	{
		nlock_mutex_unlock_barging(&m_);
	}

	/* Gives way, if anybody waits. */
	void bump()
	{
		detail::must(nlock_mutex_bump(&m_), "nlock::mutex::bump");
	}

	template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
	{
		const timespec t = detail::from_now(d);
		return detail::is_done(nlock_mutex_lock_until(&m_, CLOCK_MONOTONIC, &t), "nlock::mutex::try_lock_for");
	}

	template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &abs)
	{
		nlock_mutex_t *m = &m_;
		return detail::is_done(
			detail::until(
				abs, [m](int clock, const timespec *t) { return nlock_mutex_lock_until(m, clock, t); }),
			"nlock::mutex::try_lock_until");
	}

	native_handle_type native_handle() noexcept
	{
		return &m_;
	}

      private:
	nlock_mutex_t m_;
};

/* ------------------------------------------------------------------ shared_mutex: SharedTimedLockable */

class shared_mutex
{
      public:
	typedef nlock_rwlock_t *native_handle_type;

	constexpr shared_mutex() noexcept : rw_ NLOCK_RWLOCK_INIT
	{
	}
	/* prefers: NLOCK_RW_PHASE_FAIR, _PREFER_READERS or _PREFER_WRITERS */
	explicit shared_mutex(int prefers, nlock_attr_t attr = 0)
	{
		detail::must(nlock_rwlock_init(&rw_, prefers, attr), "nlock::shared_mutex");
	}
	shared_mutex(const shared_mutex &) = delete;
	shared_mutex &operator=(const shared_mutex &) = delete;

	void lock()
	{
		detail::must(nlock_rwlock_wrlock(&rw_), "nlock::shared_mutex::lock");
	}
	bool try_lock() noexcept
	{
		return !nlock_rwlock_trywrlock(&rw_);
	}
	void unlock() noexcept
	{
		nlock_rwlock_wrunlock(&rw_);
	}
	void lock_shared()
	{
		detail::must(nlock_rwlock_rdlock(&rw_), "nlock::shared_mutex::lock_shared");
	}
	bool try_lock_shared() noexcept
	{
		return !nlock_rwlock_tryrdlock(&rw_);
	}
	void unlock_shared() noexcept
	{
		nlock_rwlock_rdunlock(&rw_);
	}

	/* The writer becomes a reader; nobody writes in between. */
	void downgrade()
	{
		detail::must(nlock_rwlock_downgrade(&rw_), "nlock::shared_mutex::downgrade");
	}
	/* The reader becomes the writer, if it can at once; else it stays a reader. */
	bool try_upgrade() noexcept
	{
		return !nlock_rwlock_tryupgrade(&rw_);
	}

	template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
	{
		const timespec t = detail::from_now(d);
		return detail::is_done(nlock_rwlock_wrlock_until(&rw_, CLOCK_MONOTONIC, &t),
				       "nlock::shared_mutex::try_lock_for");
	}

	template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &abs)
	{
		nlock_rwlock_t *rw = &rw_;
		return detail::is_done(
			detail::until(abs, [rw](int clock,
						const timespec *t) { return nlock_rwlock_wrlock_until(rw, clock, t); }),
			"nlock::shared_mutex::try_lock_until");
	}

	template <class Rep, class Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &d)
	{
		const timespec t = detail::from_now(d);
		return detail::is_done(nlock_rwlock_rdlock_until(&rw_, CLOCK_MONOTONIC, &t),
				       "nlock::shared_mutex::try_lock_shared_for");
	}

	template <class Clock, class Duration>
	bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &abs)
	{
		nlock_rwlock_t *rw = &rw_;
		return detail::is_done(
			detail::until(abs, [rw](int clock,
						const timespec *t) { return nlock_rwlock_rdlock_until(rw, clock, t); }),
			"nlock::shared_mutex::try_lock_shared_until");
	}

	native_handle_type native_handle() noexcept
	{
		return &rw_;
	}

      private:
	nlock_rwlock_t rw_;
};

/* ------------------------------------------------------------------ condition_variable, with std::unique_lock<nlock::mutex> */

class condition_variable
{
      public:
	typedef nlock_cond_t *native_handle_type;

	constexpr condition_variable() noexcept : c_ NLOCK_COND_INIT
	{
	}
	explicit condition_variable(nlock_attr_t attr)
	{
		detail::must(nlock_cond_init(&c_, attr), "nlock::condition_variable");
	}
	condition_variable(const condition_variable &) = delete;
	condition_variable &operator=(const condition_variable &) = delete;

	void notify_one() noexcept
	{
		nlock_cond_signal(&c_);
	}
	void notify_all() noexcept
	{
		nlock_cond_broadcast(&c_);
	}

	void wait(std::unique_lock<mutex> &lock)
	{
		detail::must(nlock_cond_wait(&c_, lock.mutex()->native_handle()), "nlock::condition_variable::wait");
	}

	template <class Predicate> void wait(std::unique_lock<mutex> &lock, Predicate is_true)
	{
		while (!is_true())
			wait(lock);
	}

	template <class Clock, class Duration>
	std::cv_status wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &abs)
	{
		nlock_cond_t *c = &c_;
		nlock_mutex_t *m = lock.mutex()->native_handle();
		return status(detail::until(
			abs, [c, m](int clock, const timespec *t) { return nlock_cond_wait_until(c, m, clock, t); }));
	}

	template <class Clock, class Duration, class Predicate>
	bool wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &abs,
			Predicate is_true)
	{
		while (!is_true()) {
			if (wait_until(lock, abs) == std::cv_status::timeout)
				return is_true();
		}
		return true;
	}

	template <class Rep, class Period>
	std::cv_status wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &d)
	{
		const timespec t = detail::from_now(d);
		return at(lock, t);
	}

	template <class Rep, class Period, class Predicate>
	bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &d, Predicate is_true)
	{
		const timespec t = detail::from_now(d);
		while (!is_true()) {
			if (at(lock, t) == std::cv_status::timeout)
				return is_true();
		}
		return true;
	}

	native_handle_type native_handle() noexcept
	{
		return &c_;
	}

      private:
	static std::cv_status status(int rc)
	{
		return detail::is_done(rc, "nlock::condition_variable") ? std::cv_status::no_timeout
									: std::cv_status::timeout;
	}

	std::cv_status at(std::unique_lock<mutex> &lock, const timespec &t)
	{
		return status(nlock_cond_wait_until(&c_, lock.mutex()->native_handle(), CLOCK_MONOTONIC, &t));
	}

	nlock_cond_t c_;
};

/* ------------------------------------------------------------------ semaphore: the calls of std::counting_semaphore */

class semaphore
{
      public:
	typedef nlock_sem_t *native_handle_type;

	explicit semaphore(std::uint32_t value, nlock_attr_t attr = 0)
	{
		detail::must(nlock_sem_init(&s_, value, attr), "nlock::semaphore");
	}
	semaphore(const semaphore &) = delete;
	semaphore &operator=(const semaphore &) = delete;

	void acquire()
	{
		detail::must(nlock_sem_wait(&s_), "nlock::semaphore::acquire");
	}
	bool try_acquire() noexcept
	{
		return !nlock_sem_trywait(&s_);
	}
	void release(std::uint32_t n = 1)
	{
		detail::must(nlock_sem_post_n(&s_, n), "nlock::semaphore::release");
	}
	std::uint32_t value() const noexcept
	{
		return nlock_sem_value(&s_);
	}

	template <class Rep, class Period> bool try_acquire_for(const std::chrono::duration<Rep, Period> &d)
	{
		const timespec t = detail::from_now(d);
		return detail::is_done(nlock_sem_wait_until(&s_, CLOCK_MONOTONIC, &t),
				       "nlock::semaphore::try_acquire_for");
	}

	template <class Clock, class Duration>
	bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &abs)
	{
		nlock_sem_t *s = &s_;
		return detail::is_done(
			detail::until(abs,
				      [s](int clock, const timespec *t) { return nlock_sem_wait_until(s, clock, t); }),
			"nlock::semaphore::try_acquire_until");
	}

	native_handle_type native_handle() noexcept
	{
		return &s_;
	}

      private:
	nlock_sem_t s_;
};

/* ------------------------------------------------------------------ barrier */

class barrier
{
      public:
	typedef nlock_barrier_t *native_handle_type;

	explicit barrier(std::uint32_t count, nlock_attr_t attr = 0)
	{
		detail::must(nlock_barrier_init(&b_, count, attr), "nlock::barrier");
	}
	/* Waits for the threads that have been released and not left, so any of them may end its life. */
	~barrier()
	{
		nlock_barrier_destroy(&b_);
	}
	barrier(const barrier &) = delete;
	barrier &operator=(const barrier &) = delete;

	/* True in one thread of each round. */
	bool arrive_and_wait()
	{
		const int rc = nlock_barrier_wait(&b_);
		if (rc != NLOCK_BARRIER_SERIAL)
			detail::must(rc, "nlock::barrier::arrive_and_wait");
		return rc == NLOCK_BARRIER_SERIAL;
	}

	native_handle_type native_handle() noexcept
	{
		return &b_;
	}

      private:
	nlock_barrier_t b_;
};

/* ------------------------------------------------------------------ call_once */

class once_flag
{
      public:
	constexpr once_flag() noexcept : o_ NLOCK_ONCE_INIT
	{
	}
	once_flag(const once_flag &) = delete;
	once_flag &operator=(const once_flag &) = delete;

	nlock_once_t *native_handle() noexcept
	{
		return &o_;
	}

      private:
	nlock_once_t o_;
};

/* Calls f(args...) if no call with this flag has returned yet. If it throws, the exception goes on to the caller, and the next
 * call tries again. */
template <class F, class... Args> void call_once(once_flag &flag, F &&f, Args &&...args)
{
	auto bound = [&] { std::forward<F>(f)(std::forward<Args>(args)...); };

	detail::must(nlock_once(flag.native_handle(), detail::call<decltype(bound)>, &bound), "nlock::call_once");
}

} // namespace nlock

#endif
