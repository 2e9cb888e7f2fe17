package dev.bourse.history;

import dev.bourse.history.History.Row;
import dev.bourse.history.RecordedOperation.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Says what in a history cannot be, were each request carried out in one moment between its begin
 * and its end, at once or not at all.
 *
 * <p>The promises it holds the service to:
 *
 * <ul>
 *   <li>An acknowledged write made exactly the version after the one it expected, and nobody else
 *       made that. It is stored and has one row in the trail, which says what was sent.
 *   <li>A refused one left nothing. One whose end is unknown is stored once or not at all.
 *   <li>A write that began after another's acknowledgement has a later version.
 *   <li>A read shows whatever its process acknowledged before the read began, and whatever others
 *       acknowledged longer ago than a process may lag; no process ever goes back.
 *   <li>A write is refused for its version only when that did not stand all the while.
 *   <li>The same of sets: who was added is a member until somebody asks for the removal, and none
 *       after that was acknowledged.
 * </ul>
 */
public final class LinearizabilityChecker {
  private final History history;
  private final Findings findings = new Findings();
  private final Map<String, VersionCheck> clusters = new HashMap<>();
  private final Map<String, MembershipCheck> sets = new HashMap<>();

  private LinearizabilityChecker(History history) {
    this.history = history;
  }

  /** The first few violations; none when all is as promised. */
  public static List<HistoryViolation> check(History history) {
    return new LinearizabilityChecker(history).check();
  }

  private List<HistoryViolation> check() {
    history.stored().clusters().keySet().forEach(this::cluster);
    history.stored().sets().keySet().forEach(this::set);
    for (RecordedOperation operation : history.operations()) {
      if (isOfCluster(operation.kind())) {
        cluster(operation.subject()).add(operation);
      } else {
        set(operation.subject()).add(operation);
      }
    }
    for (Row row : history.stored().trail()) {
      if (isOfCluster(row.kind())) {
        cluster(row.subject()).add(row);
      } else {
        set(row.subject()).add(row);
      }
    }
    clusters.values().forEach(VersionCheck::check);
    sets.values().forEach(MembershipCheck::check);
    return findings.all();
  }

  private VersionCheck cluster(String name) {
    return clusters.computeIfAbsent(name, n -> new VersionCheck(history, n, findings));
  }

  private MembershipCheck set(String name) {
    return sets.computeIfAbsent(name, n -> new MembershipCheck(history, n, findings));
  }

  private static boolean isOfCluster(Kind kind) {
    return kind == Kind.WRITE || kind == Kind.READ;
  }

  /** Checks histories in files; ends with 1 when there is a violation in one. */
  public static void main(String[] files) throws IOException {
    boolean isClean = true;
    for (String file : files) {
      List<HistoryViolation> found = check(History.read(Path.of(file)));
      found.forEach(violation -> System.out.println(file + ": " + violation));
      isClean &= found.isEmpty();
    }
    System.exit(isClean ? 0 : 1);
  }
}
