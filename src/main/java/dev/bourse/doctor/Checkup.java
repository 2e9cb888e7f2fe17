package dev.bourse.doctor;

import dev.bourse.core.FailureText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs checks in parallel, each on its own thread: there are a dozen, and they wait for servers.
 *
 * @param bound time-out of all checks together
 */
public record Checkup(Duration bound) {
  /** Advice for a server that did not answer. */
  private static final String SILENT = "check the address and the network path, or raise --timeout";

  private record Running(Check check, Notes notes, FutureTask<Void> task) {}

  /** Returns the findings, in the order of the checks. A check that hangs is abandoned. */
  public List<Finding> of(List<Check> checks) {
    List<Running> all = checks.stream().map(Checkup::start).toList();
    long deadline = System.nanoTime() + bound.toNanos();
    List<Finding> findings = new ArrayList<>();
    for (Running one : all) {
      await(one, deadline);
      findings.add(one.notes().finding(one.check().name()));
    }
    return findings;
  }

  private static Running start(Check check) {
    Notes notes = new Notes();
    Callable<Void> work =
        () -> {
          check.look().at(notes);
          return null;
        };
    FutureTask<Void> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "doctor " + check.name());
    // A check that hangs must not keep the command from exiting.
    thread.setDaemon(true);
    thread.start();
    return new Running(check, notes, task);
  }

  private void await(Running one, long deadline) {
    try {
      one.task().get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      one.task().cancel(true);
      one.notes().fault("no answer within %s s".formatted(bound.toSeconds()), SILENT);
    } catch (ExecutionException failed) {
      one.notes()
          .fault(
              FailureText.of(Objects.requireNonNullElse(failed.getCause(), failed)),
              one.check().advice());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      one.task().cancel(true);
      one.notes().fault("interrupted", "");
    }
  }
}
