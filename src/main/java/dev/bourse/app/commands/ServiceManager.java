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
 * Tells systemd that the process is ready, that it lives, and that it stops, where a unit of {@code
 * Type=notify} runs it; elsewhere nobody is told.
 *
 * <p>systemd listens at a datagram socket of the file system, which Java's sockets cannot reach.
 * Its own program can, so each word is a short process of {@code systemd-notify}: one at the start,
 * one at the stop, and four in each {@code WatchdogSec}, so that one that fails ends nothing.
 *
 * <p>A word that the process lives says nothing of its event loops: {@link Watchdog} ends it when
 * they stand still. This is for what stops that as well, such as a heap in which nothing but the
 * collector runs.
 */
final class ServiceManager {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceManager.class);

  /** It takes some milliseconds; systemd itself waits no longer than this for the answer. */
  private static final long WORD_SECONDS = 5;

  /**
   * More often, it would cost more than it tells; a watchdog under half a second ends the process.
   */
  private static final long LEAST_PERIOD_MILLIS = 100;

  /** After a word that was not heard. */
  private static final long RETRY_MILLIS = 1_000;

  private final List<String> program;
  private final boolean isListening;

  /** 0 when nothing waits for it. */
  private final long periodMillis;

  private final ScheduledExecutorService words =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread thread = new Thread(work, "systemd");
            thread.setDaemon(true);
            return thread;
          });

  /** Of this process, as its environment tells. */
  static ServiceManager ofProcess() {
    return new ServiceManager(
        System.getenv(), ProcessHandle.current().pid(), List.of("systemd-notify"));
  }

  /**
   * @param environment systemd's variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, or none
   * @param process the id of this process; a watchdog that waits for another is not served
   * @param program what takes a word as its arguments
   */
  ServiceManager(Map<String, String> environment, long process, List<String> program) {
    this.program = program;
    this.isListening = !environment.getOrDefault("NOTIFY_SOCKET", "").isEmpty();
    String awaited = environment.getOrDefault("WATCHDOG_PID", "");
    boolean isAwaited =
        isListening && (awaited.isEmpty() || awaited.equals(Long.toString(process)));
    this.periodMillis = isAwaited ? periodMillis(environment.getOrDefault("WATCHDOG_USEC", "")) : 0;
  }

  /** A quarter of what the watchdog waits. */
  private static long periodMillis(String limitMicros) {
    if (!limitMicros.matches("[1-9]\\d{0,17}")) {
      return 0;
    }
    return Math.max(
        LEAST_PERIOD_MILLIS, TimeUnit.MICROSECONDS.toMillis(Long.parseLong(limitMicros)) / 4);
  }

  /** The service answers; from now on it says that it lives. */
  void ready() {
    tell(List.of("READY=1"));
    if (periodMillis > 0) {
      tellNext(periodMillis);
    }
  }

  private void tellNext(long delayMillis) {
    later(
        () -> {
          boolean isHeard = say(List.of("WATCHDOG=1"));
          tellNext(isHeard ? periodMillis : Math.min(RETRY_MILLIS, periodMillis));
        },
        delayMillis);
  }

  /** Not once a stop has begun, which may be before the start is over. */
  private void later(Runnable work, long delayMillis) {
    try {
      words.schedule(work, delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException stopping) {
      LOG.debug("nothing more is told to systemd");
    }
  }

  /**
   * A stop has begun, during which nobody waits for further words.
   *
   * @param mostSeconds how long it may take, whatever the unit's time-out is
   */
  void stopping(long mostSeconds) {
    tell(List.of("STOPPING=1", "EXTEND_TIMEOUT_USEC=" + TimeUnit.SECONDS.toMicros(mostSeconds)));
    words.shutdown();
  }

  private void tell(List<String> word) {
    if (isListening) {
      later(() -> say(word), 0);
    }
  }

  /**
   * Whether it was told. The service goes on whatever becomes of it: systemd does what it does to a
   * silent one.
   */
  private boolean say(List<String> word) {
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
        LOG.warn("systemd was not told {}: {} did not end", word, program);
      } else if (process.exitValue() != 0) {
        LOG.warn("systemd was not told {}: {} ended with {}", word, program, process.exitValue());
      } else {
        return true;
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } catch (Exception | OutOfMemoryError e) {
      // No thread can be had either, which passes; the next word may be heard.
      LOG.warn("systemd was not told {}: {}", word, e.toString());
    }
    return false;
  }
}
