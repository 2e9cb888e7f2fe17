package dev.bourse.history;

import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.Set;

/**
 * One request of one client, from its begin to its end.
 *
 * @param id the client, a dash and the number of the request: {@code c3-17}
 * @param process what it was sent to; a process that was started anew keeps its name
 * @param subject the cluster of a write or a read; the set of what is added, removed and looked for
 * @param invokedMicros when it was sent, by a clock that nobody sets
 * @param completedMicros when its answer was there, or given up
 * @param expected the version a write demands; 0 for all others
 * @param sent what a write declares; the member that is added, removed or looked for
 * @param version the version that an answer tells; 0 where none does
 * @param shown what a read shows, the members of a list with spaces between, the code of a refusal
 */
public record RecordedOperation(
    String id,
    String process,
    Kind kind,
    String subject,
    long invokedMicros,
    long completedMicros,
    long expected,
    String sent,
    Outcome outcome,
    long version,
    String shown) {

  /** What was asked for. */
  public enum Kind {
    /** A declaration upon an expected version. */
    WRITE,
    /** The version and the declaration in force. */
    READ,
    /** A new member of a set: an ssh key, a token. */
    ADD,
    /** The member's end. */
    REMOVE,
    /** All members. */
    LIST,
    /** Whether one is a member; shown is {@link #PRESENT} or {@link #ABSENT}. */
    LOOK
  }

  /** What came of it, as far as its client knows. */
  public enum Outcome {
    ACKNOWLEDGED,
    /** Refused with the promise that nothing was written. */
    REFUSED,
    /** No answer, or one that says that it may be stored. */
    UNKNOWN
  }

  public static final String PRESENT = "present";
  public static final String ABSENT = "absent";

  /** What a read of a cluster that nothing was ever declared for shows. */
  public static final String NOTHING = "nothing";

  boolean isAcknowledged() {
    return outcome == Outcome.ACKNOWLEDGED;
  }

  /** The members a list shows. */
  Set<String> members() {
    return shown.isEmpty() ? Set.of() : Set.copyOf(Arrays.asList(shown.split(" ")));
  }

  /** As messages name it. */
  @Override
  public String toString() {
    return id
        + " ("
        + kind
        + " "
        + subject
        + (kind == Kind.WRITE ? " upon " + expected : "")
        + (sent.isEmpty() ? "" : ": " + sent)
        + " at "
        + process
        + ", "
        + millis(invokedMicros)
        + " to "
        + millis(completedMicros)
        + ": "
        + outcome
        + (version == 0 ? "" : ", version " + version)
        + (shown.isEmpty() ? "" : ", " + shown)
        + ")";
  }

  private static String millis(long micros) {
    return micros / 1_000 + "." + micros / 100 % 10 + " ms";
  }

  JsonObject toJson() {
    return new JsonObject()
        .put("id", id)
        .put("process", process)
        .put("kind", kind.name())
        .put("subject", subject)
        .put("invoked", invokedMicros)
        .put("completed", completedMicros)
        .put("expected", expected)
        .put("sent", sent)
        .put("outcome", outcome.name())
        .put("version", version)
        .put("shown", shown);
  }

  static RecordedOperation of(JsonObject json) {
    return new RecordedOperation(
        json.getString("id"),
        json.getString("process"),
        Kind.valueOf(json.getString("kind")),
        json.getString("subject"),
        json.getLong("invoked"),
        json.getLong("completed"),
        json.getLong("expected", 0L),
        json.getString("sent", ""),
        Outcome.valueOf(json.getString("outcome")),
        json.getLong("version", 0L),
        json.getString("shown", ""));
  }
}
