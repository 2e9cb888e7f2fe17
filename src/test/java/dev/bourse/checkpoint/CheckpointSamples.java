package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.function.Executable;

/** Items for tests. */
public final class CheckpointSamples {
  public static final long T0 = 1_700_000_000_000L;
  public static final long LATE = T0 + 1_000_000;
  public static final String SHA = "0".repeat(64);

  private CheckpointSamples() {}

  /** Returns a member's public set with a distinct value in each field. */
  public static Checkpoint recorded(Revision head, Revision live) {
    return new Checkpoint(
        "ckp_1",
        "acme",
        Visibility.PUBLIC,
        "llama-40k",
        "alice",
        "acme/alice/1",
        null,
        T0 + 5,
        T0 + 6,
        4,
        7,
        null,
        head,
        live);
  }

  public static Checkpoint item(Visibility visibility) {
    return Checkpoint.create("ckp_1", "acme", visibility, "alice", "acme/alice/1", null, draft(1));
  }

  public static Revision draft(int number) {
    return draft(number, "a.bin");
  }

  public static Revision draft(int number, String fileName) {
    return new Revision(
        number,
        Revision.State.PENDING,
        metadata(fileName, 100),
        true,
        "s" + number,
        T0,
        LATE,
        null,
        null,
        null,
        List.of(),
        null,
        null);
  }

  public static Metadata metadata(String fileName, long bytes) {
    return new Metadata("T", "", fileName, "application/octet-stream", bytes, null);
  }

  public static ApiException refused(ErrorCode code, Executable what) {
    ApiException error = assertThrows(ApiException.class, what);
    assertEquals(code, error.code(), error.detail());
    return error;
  }
}
