// SPDX-License-Identifier: MIT
//
// cxx_locks.cpp N - the locks of the C++ standard library, with work for the allocator under each, and a fork in between
//
// Every thread counts under the lock, and what it counts is known beforehand. What is wrong is printed, and the exit status is 1.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace
{
constexpr int threads = 4;
int failures;

void expect(const char *what, long got, long wanted)
{
	if (got == wanted)
		return;
	std::printf("FAIL: %s: %ld, not %ld\n", what, got, wanted);
	failures++;
}

template <typename Body> void together(Body body)
{
	std::vector<std::thread> crew;

	for (int me = 0; me < threads; me++)
		crew.emplace_back(body, me);
	for (auto &each : crew)
		each.join();
}

template <typename Mutex> void counts_under(const char *what, long n)
{
	Mutex mutex;
	std::vector<std::string> said;
	long counter = 0;

	together([&](int me) {
		for (long i = 0; i < n; i++) {
			std::lock_guard<Mutex> guard(mutex);
			counter++;
			if (i % 64 == 0)
				said.emplace_back(static_cast<std::size_t>(i % 500), static_cast<char>('a' + me));
		}
	});
	expect(what, counter, threads * n);
	expect(what, static_cast<long>(said.size()), threads * ((n + 63) / 64));
}

void recursion(long n)
{
	std::recursive_mutex mutex;
	long counter = 0;

	together([&](int) {
		for (long i = 0; i < n; i++) {
			std::lock_guard<std::recursive_mutex> outer(mutex);
			std::lock_guard<std::recursive_mutex> inner(mutex);
			counter++;
		}
	});
	expect("recursive_mutex", counter, threads * n);
}

void readers_and_writers(long n)
{
	std::shared_timed_mutex timed;
	std::shared_mutex mutex;
	long one = 0, two = 0, torn = 0;
	std::mutex tally;

	together([&](int me) {
		long seen = 0;

		for (long i = 0; i < n; i++) {
			if (i % 8 == me) {
				std::unique_lock<std::shared_mutex> guard(mutex);
				one++;
				two++;
			} else {
				std::shared_lock<std::shared_mutex> guard(mutex);
				seen += one != two;
			}
			if (timed.try_lock_shared_for(std::chrono::hours(1)))
				timed.unlock_shared();
			else
				seen++;
		}
		std::lock_guard<std::mutex> guard(tally);
		torn += seen;
	});
	expect("shared_mutex, torn", torn, 0);
	expect("shared_mutex", one, (n + 7) / 8 + (n + 6) / 8 + (n + 5) / 8 + (n + 4) / 8);
}

/* Room for 4, by two condition variables. */
template <typename Cond, typename Mutex> struct queue {
	std::deque<std::unique_ptr<long>> items;
	Mutex mutex;
	Cond filled, emptied;

	void put(long i)
	{
		std::unique_lock<Mutex> lock(mutex);
		emptied.wait(lock, [&] { return items.size() < 4; });
		items.push_back(std::make_unique<long>(i));
		filled.notify_one();
	}

	long take()
	{
		std::unique_lock<Mutex> lock(mutex);
		if (!filled.wait_for(lock, std::chrono::hours(1), [&] { return !items.empty(); }))
			return 0;
		long i = *items.front();
		items.pop_front();
		emptied.notify_one();
		return i;
	}
};

template <typename Cond, typename Mutex> void conveys(const char *what, long n)
{
	queue<Cond, Mutex> q;
	std::mutex tally;
	long sum = 0;

	together([&](int me) {
		long mine = 0;

		for (long i = 0; i < n; i++) {
			if (me % 2 == 0)
				q.put(i);
			else
				mine += q.take();
		}
		std::lock_guard<std::mutex> guard(tally);
		sum += mine;
	});
	expect(what, sum, n * (n - 1));
}

/* An initialiser that throws twice, and runs to its end once. */
struct initialiser {
	std::once_flag flag;
	int attempts = 0;
	long ran = 0;

	bool throws()
	{
		try {
			std::call_once(flag, [this] { run(); });
		} catch (const std::runtime_error &) {
			return true;
		}
		return false;
	}

	void run()
	{
		if (++attempts < 3)
			throw std::runtime_error("not yet");
		ran++;
	}
};

void once(long n)
{
	std::mutex tally;
	long thrown = 0, ran = 0;

	for (long i = 0; i < n; i++) {
		initialiser it;

		together([&](int) {
			bool threw = it.throws();
			std::lock_guard<std::mutex> guard(tally);
			thrown += threw;
		});
		ran += it.ran;
	}
	expect("call_once, thrown", thrown, 2 * n);
	expect("call_once", ran, n);
}

void futures(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		std::promise<long> promise;
		auto later = std::async(std::launch::async, [&] { return promise.get_future().get() + 1; });

		promise.set_value(i);
		sum += later.get();
	}
	expect("future", sum, n * (n + 1) / 2);
}

/* Children are made while others hold the lock and the allocator's; each allocates, locks a lock of its own, and says so. */
void forks(long n)
{
	std::mutex mutex;
	bool over = false;
	long fine = 0;

	together([&](int me) {
		for (long i = 0; me == 0 && i < n; i++) {
			mutex.lock();
			pid_t pid = fork();
			if (pid == 0) {
				std::vector<std::string> mine(100, std::string(200, 'x'));
				mutex.unlock();
				std::lock_guard<std::mutex> guard(mutex);
				_exit(mine.size() == 100 ? 42 : 1);
			}
			mutex.unlock();
			int status = 0;
			fine += waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 42;
		}
		for (bool done = false; !done;) {
			std::vector<std::string> mine(10, std::string(300, 'y'));
			std::lock_guard<std::mutex> guard(mutex);
			done = over = over || me == 0;
		}
	});
	expect("children", fine, n);
}
}

int main(int argc, char **argv)
{
	long n = argc == 2 ? std::atol(argv[1]) : 0;

	if (n < 100)
		return 2;
	counts_under<std::mutex>("mutex", n);
	counts_under<std::timed_mutex>("timed_mutex", n);
	recursion(n);
	readers_and_writers(n);
	conveys<std::condition_variable, std::mutex>("condition_variable", n / 4);
	conveys<std::condition_variable_any, std::timed_mutex>("condition_variable_any", n / 8);
	once(n / 400);
	futures(n / 100);
	forks(n / 400);
	if (!failures)
		std::puts("all sums are right");
	return failures != 0;
}
