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
 * Carries out checks side by side, each on a thread of its own: there are a dozen, and they wait.
 *
 * @param bound for how long all of them are waited for
 */
public record Checkup(Duration bound) {
  /** What to do about a server that was asked and said nothing. */
  private static final String SILENT =
      "see whether the address is right and what stands between, or give --timeout more seconds";

  private record Running(Check check, Notes notes, FutureTask<Void> task) {}

  /** The findings, in the order of the checks. One that hangs is left behind. */
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
    // Whoever hangs must not keep the command from ending.
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
      one.notes().fault("it was interrupted", "");
    }
  }
}
