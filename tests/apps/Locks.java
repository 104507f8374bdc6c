/* SPDX-License-Identifier: MIT
 *
 * Locks.java N - monitors, java.util.concurrent and garbage; sums that are known beforehand
 */
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class Locks {
	static final int THREADS = 4;
	static int n;
	static long monitored, locked;
	static final Object monitor = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static final Condition turned = lock.newCondition();
	static int turn;

	static void expect(String what, long got, long wanted) {
		if (got != wanted) {
			System.out.println(what + ": " + got + ", not " + wanted);
			System.exit(1);
		}
	}

	/* A queue of 4 by monitor, wait and notifyAll. */
	static class Queue {
		private final ArrayDeque<int[]> items = new ArrayDeque<>();

		synchronized void put(int[] item) throws InterruptedException {
			while (items.size() == 4)
				wait();
			items.add(item);
			notifyAll();
		}

		synchronized int[] take() throws InterruptedException {
			while (items.isEmpty())
				wait();
			int[] item = items.remove();
			notifyAll();
			return item;
		}
	}

	interface Body {
		long run(int me) throws Exception;
	}

	static long together(Body body) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(THREADS);
		List<Future<Long>> answers = new ArrayList<>();
		long sum = 0;
		for (int i = 0; i < THREADS; i++) {
			int me = i;
			Callable<Long> call = () -> body.run(me);
			answers.add(pool.submit(call));
		}
		for (Future<Long> answer : answers)
			sum += answer.get();
		pool.shutdown();
		return sum;
	}

	public static void main(String[] args) throws Exception {
		n = Integer.parseInt(args[0]);
		long each = (long)n * (n - 1) / 2;

		together(me -> {
			for (int i = 0; i < n; i++)
				synchronized (monitor) {
					monitored += new int[] { i, me, 0, 0 }[0];
				}
			return 0L;
		});
		expect("monitor", monitored, THREADS * each);

		together(me -> {
			for (int i = 0; i < n / 20; i++) {
				lock.lock();
				try {
					while (turn % THREADS != me)
						turned.await();
					turn++;
					locked += i;
					turned.signalAll();
				} finally {
					lock.unlock();
				}
			}
			return 0L;
		});
		expect("condition", locked, THREADS * ((long)(n / 20) * (n / 20 - 1) / 2));

		Queue queue = new Queue();
		long taken = together(me -> {
			long sum = 0;
			for (int i = 0; i < n / 4; i++)
				if (me % 2 == 0)
					queue.put(new int[64 + i % 64]);
				else
					sum += queue.take().length;
			return sum;
		});
		long made = 0;
		for (int i = 0; i < n / 4; i++)
			made += 2 * (64 + i % 64);
		expect("queue", taken, made);

		BlockingQueue<byte[]> blocking = new ArrayBlockingQueue<>(8);
		ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
		CyclicBarrier barrier = new CyclicBarrier(THREADS);
		long got = together(me -> {
			long sum = 0;
			barrier.await();
			for (int i = 0; i < n / 4; i++) {
				map.merge(i % 100, 1, Integer::sum);
				if (me % 2 == 0)
					blocking.put(new byte[1024]);
				else
					sum += blocking.take().length;
			}
			return sum;
		});
		expect("blocking queue", got, 2L * (n / 4) * 1024);
		expect("map", map.values().stream().mapToInt(Integer::intValue).sum(), THREADS * (n / 4));

		System.gc();
		long collections = 0;
		for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans())
			collections += bean.getCollectionCount();
		System.out.println("collections: " + collections);
		System.out.println("all sums are right");
	}
}
