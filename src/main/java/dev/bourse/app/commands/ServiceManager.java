package dev.bourse.app.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies systemd that the process is ready, alive, and stopping, in a unit of {@code
 * Type=notify}; does nothing elsewhere.
 *
 * <p>systemd listens at a Unix datagram socket, which Java's sockets do not support. So each
 * notification is a short process of {@code systemd-notify}: one at the start, one at the stop, and
 * four in each {@code WatchdogSec}, so that a single failure does no harm.
 *
 * <p>A notification that the process lives says nothing of its event loops: {@link Watchdog} ends
 * the process when they are stuck. This class covers failures that stop the watchdog as well, such
 * as a full heap in which only the garbage collector runs.
 */
final class ServiceManager {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceManager.class);

  /** It takes some milliseconds; systemd itself waits no longer than this for the answer. */
  private static final long WORD_SECONDS = 5;

  /** The shortest useful period: a watchdog of less than half a second would end the process. */
  private static final long LEAST_PERIOD_MILLIS = 100;

  /** The pause after a notification that failed. */
  private static final long RETRY_MILLIS = 1_000;

  private final List<String> program;
  private final boolean isListening;

  /** 0 if there is no watchdog. */
  private final long periodMillis;

  private final ScheduledExecutorService words =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread thread = new Thread(work, "systemd");
            thread.setDaemon(true);
            return thread;
          });

  /** The notifier of this process, from its environment. */
  static ServiceManager ofProcess() {
    return new ServiceManager(
        System.getenv(), ProcessHandle.current().pid(), List.of("systemd-notify"));
  }

  /**
   * @param environment systemd's variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, or none
   * @param process the id of this process; a watchdog for another process is ignored
   * @param program the program that takes a notification as its arguments
   */
  ServiceManager(Map<String, String> environment, long process, List<String> program) {
    this.program = program;
    this.isListening = !environment.getOrDefault("NOTIFY_SOCKET", "").isEmpty();
    String awaited = environment.getOrDefault("WATCHDOG_PID", "");
    boolean isAwaited =
        isListening && (awaited.isEmpty() || awaited.equals(Long.toString(process)));
    this.periodMillis = isAwaited ? periodMillis(environment.getOrDefault("WATCHDOG_USEC", "")) : 0;
  }

  /** A quarter of the watchdog's time-out. */
  private static long periodMillis(String limitMicros) {
    if (!limitMicros.matches("[1-9]\\d{0,17}")) {
      return 0;
    }
    return Math.max(
        LEAST_PERIOD_MILLIS, TimeUnit.MICROSECONDS.toMillis(Long.parseLong(limitMicros)) / 4);
  }

  /** Reports that the service answers, and starts to report that it lives. */
  void ready() {
    notifyManager(List.of("READY=1"));
    if (periodMillis > 0) {
      notifyNext(periodMillis);
    }
  }

  private void notifyNext(long delayMillis) {
    later(
        () -> {
          boolean isHeard = send(List.of("WATCHDOG=1"));
          notifyNext(isHeard ? periodMillis : Math.min(RETRY_MILLIS, periodMillis));
        },
        delayMillis);
  }

  /** Schedules work, unless a stop has started, which can happen before the start is complete. */
  private void later(Runnable work, long delayMillis) {
    try {
      words.schedule(work, delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException stopping) {
      LOG.debug("the scheduler has stopped; no more notifications to systemd");
    }
  }

  /**
   * Reports that a stop has started; further notifications are not needed.
   *
   * @param mostSeconds the longest time it may take, overriding the unit's time-out
   */
  void stopping(long mostSeconds) {
    notifyManager(
        List.of("STOPPING=1", "EXTEND_TIMEOUT_USEC=" + TimeUnit.SECONDS.toMicros(mostSeconds)));
    words.shutdown();
  }

  private void notifyManager(List<String> word) {
    if (isListening) {
      later(() -> send(word), 0);
    }
  }

  /**
   * Returns whether a notification succeeded. The service continues in either case; systemd handles
   * a silent one.
   */
  private boolean send(List<String> word) {
    List<String> command = new ArrayList<>(program);
    command.addAll(word);
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!process.waitFor(WORD_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        LOG.warn("notification {} to systemd failed: {} did not end", word, program);
      } else if (process.exitValue() != 0) {
        LOG.warn(
            "notification {} to systemd failed: {} ended with {}",
            word,
            program,
            process.exitValue());
      } else {
        return true;
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } catch (Exception | OutOfMemoryError e) {
      // No thread is available, which is temporary; the next notification may succeed.
      LOG.warn("notification {} to systemd failed: {}", word, e.toString());
    }
    return false;
  }
}
