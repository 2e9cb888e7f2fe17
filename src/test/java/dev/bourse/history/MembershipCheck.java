package dev.bourse.history;

import dev.bourse.history.History.Row;
import dev.bourse.history.RecordedOperation.Kind;
import dev.bourse.history.RecordedOperation.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A set whose members are added once and removed once, and who saw which. */
final class MembershipCheck {
  private final History history;
  private final String subject;
  private final Findings findings;
  private final Map<String, Member> members = new HashMap<>();
  private final List<RecordedOperation> looks = new ArrayList<>();

  MembershipCheck(History history, String subject, Findings findings) {
    this.history = history;
    this.subject = subject;
    this.findings = findings;
  }

  /** All that was done to one member. */
  private static final class Member {
    private @Nullable RecordedOperation add;
    private @Nullable RecordedOperation removed;

    /** The first that may have removed it. */
    private @Nullable RecordedOperation removing;

    private int addRows;
    private int removeRows;

    boolean mayHaveCome() {
      return add != null && add.outcome() != Outcome.REFUSED;
    }
  }

  void add(RecordedOperation operation) {
    switch (operation.kind()) {
      case ADD -> added(operation);
      case REMOVE -> removed(operation);
      default -> {
        if (operation.isAcknowledged()) {
          looks.add(operation);
        }
      }
    }
  }

  private void added(RecordedOperation add) {
    Member member = member(add.sent());
    if (member.add != null) {
      findings.add(HistoryViolation.Kind.DOUBLED, "added twice: " + member.add + " and " + add);
    }
    member.add = add;
  }

  private void removed(RecordedOperation remove) {
    Member member = member(remove.sent());
    if (remove.outcome() == Outcome.REFUSED) {
      looks.add(remove);
      return;
    }
    RecordedOperation first = member.removing;
    if (first == null || remove.invokedMicros() < first.invokedMicros()) {
      member.removing = remove;
    }
    if (remove.isAcknowledged()) {
      if (member.removed != null) {
        findings.add(
            HistoryViolation.Kind.DOUBLED, "removed twice: " + member.removed + " and " + remove);
      }
      member.removed = remove;
    }
  }

  private Member member(String name) {
    return members.computeIfAbsent(name, n -> new Member());
  }

  void add(Row row) {
    Member member = member(row.what());
    if (row.kind() == Kind.ADD) {
      member.addRows++;
    } else {
      member.removeRows++;
    }
  }

  void check() {
    Set<String> stored = history.stored().sets().getOrDefault(subject, Set.of());
    stored.forEach(this::member);
    members.forEach((name, member) -> checkStored(name, member, stored.contains(name)));
    checkLooks();
  }

  private void checkStored(String name, Member member, boolean isStored) {
    checkRows(name, "added", member.add, member.addRows);
    checkRows(
        name,
        "removed",
        member.removed != null ? member.removed : member.removing,
        member.removeRows);
    if (isStored != (member.addRows > member.removeRows) && member.addRows <= 1) {
      findings.add(
          isStored ? HistoryViolation.Kind.UNASKED : HistoryViolation.Kind.LOST,
          name
              + (isStored ? " is" : " is not")
              + " in "
              + subject
              + " in the end, against its rows: "
              + member.add
              + ", "
              + member.removing);
    }
  }

  private void checkRows(String name, String what, @Nullable RecordedOperation by, int rows) {
    if (rows > 1) {
      findings.add(
          HistoryViolation.Kind.DOUBLED,
          rows + " rows say that " + name + " was " + what + ": " + by);
    } else if (rows == 0 && by != null && by.isAcknowledged()) {
      findings.add(HistoryViolation.Kind.LOST, "acknowledged, and there is no row of it: " + by);
    } else if (rows == 1 && (by == null || by.outcome() == Outcome.REFUSED)) {
      findings.add(
          HistoryViolation.Kind.UNASKED,
          "a row says that " + name + " was " + what + ", which was refused or never sent: " + by);
    }
  }

  /** In the order of their begin, with those members at hand that may have to be there. */
  private void checkLooks() {
    looks.sort(Comparator.comparingLong(RecordedOperation::invokedMicros));
    List<Map.Entry<String, Member>> coming =
        members.entrySet().stream()
            .filter(m -> m.getValue().add != null && m.getValue().add.isAcknowledged())
            .sorted(Comparator.comparingLong(m -> end(m.getValue().add)))
            .toList();
    Map<String, Member> there = new HashMap<>();
    int next = 0;
    for (RecordedOperation look : looks) {
      while (next < coming.size() && end(coming.get(next).getValue().add) < look.invokedMicros()) {
        there.put(coming.get(next).getKey(), coming.get(next).getValue());
        next++;
      }
      if (look.kind() == Kind.LIST) {
        checkList(look, there);
      } else if (look.kind() == Kind.LOOK) {
        checkShown(look, look.sent(), look.shown().equals(RecordedOperation.PRESENT));
      } else if (look.shown().equals("not-found") || look.shown().equals("unauthorized")) {
        checkRefusal(look);
      }
    }
  }

  private static long end(@Nullable RecordedOperation operation) {
    return operation == null ? Long.MAX_VALUE : operation.completedMicros();
  }

  private void checkList(RecordedOperation list, Map<String, Member> there) {
    Set<String> shown = list.members();
    shown.forEach(name -> checkShown(list, name, true));
    for (Iterator<Map.Entry<String, Member>> all = there.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<String, Member> one = all.next();
      RecordedOperation removing = one.getValue().removing;
      if (removing != null && removing.invokedMicros() <= list.invokedMicros()) {
        // It need not be in any list that is still to come.
        all.remove();
      } else if (!shown.contains(one.getKey())) {
        checkShown(list, one.getKey(), false);
      }
    }
  }

  private void checkRefusal(RecordedOperation remove) {
    Member member = member(remove.sent());
    if (mustBeThere(member, remove)) {
      findings.add(
          HistoryViolation.Kind.REFUSED_WITHOUT_CAUSE,
          remove + " though it was there: " + member.add);
    }
  }

  private void checkShown(RecordedOperation look, String name, boolean isShown) {
    Member member = member(name);
    if (!isShown) {
      if (mustBeThere(member, look)) {
        findings.add(HistoryViolation.Kind.STALE, look + " does not show " + member.add);
      }
    } else if (!member.mayHaveCome() || begin(member.add) > look.completedMicros()) {
      findings.add(
          HistoryViolation.Kind.UNASKED,
          look + " shows " + name + ", which nobody added: " + member.add);
    } else if (mustBeKnown(member.removed, look)) {
      findings.add(
          HistoryViolation.Kind.STALE, look + " shows " + name + " after " + member.removed);
    }
  }

  private static long begin(@Nullable RecordedOperation operation) {
    return operation == null ? Long.MAX_VALUE : operation.invokedMicros();
  }

  private boolean mustBeThere(Member member, RecordedOperation look) {
    return mustBeKnown(member.add, look)
        && (member.removing == null || member.removing.invokedMicros() > look.completedMicros());
  }

  /** Whether a change was acknowledged so long before that this process must know of it. */
  private boolean mustBeKnown(@Nullable RecordedOperation change, RecordedOperation look) {
    if (change == null || !change.isAcknowledged()) {
      return false;
    }
    long began = look.invokedMicros();
    return change.completedMicros() < began
        && (change.process().equals(look.process())
            || change.completedMicros() < began - history.lagMicros(look.process(), began));
  }
}
