package dev.bourse.client.trail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.bourse.audit.SampleBatches;
import dev.bourse.audit.SealedBatch;
import dev.bourse.testing.MemberShell;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verifying files on a machine without a service. */
@Tag("fast")
class TrailVerifyCommandTest {
  private final Path folder;
  private final MemberShell shell;
  private final SampleBatches writes = new SampleBatches(1, "acme", false);

  TrailVerifyCommandTest(@TempDir Path folder) {
    this.folder = folder;
    this.shell = new MemberShell(folder.resolve("home"));
  }

  private Path file(SealedBatch batch) throws IOException {
    Path file = folder.resolve("trail/%s/%012d.ndjson".formatted(batch.chainName(), batch.batch()));
    Files.createDirectories(file.getParent());
    return Files.write(file, batch.lines().getBytes());
  }

  private MemberShell.Outcome verify(Object... files) {
    String[] words = new String[files.length + 2];
    words[0] = "trail";
    words[1] = "verify";
    for (int i = 0; i < files.length; i++) {
      words[i + 2] = files[i].toString();
    }
    return shell.run(words);
  }

  @Test
  void filesInAnyOrderAreProvenAndTheHeadIsShown() throws IOException {
    Path first = file(writes.next(3));
    SealedBatch batch = writes.next(4);
    Path second = file(batch);
    List<String> lines = batch.lines().toString().lines().toList();
    String head =
        new JsonObject(lines.get(lines.size() - 1)).getJsonObject("unmapped").getString("seal");
    verify(second, first).ended(0).says("from the beginning").says(head).says("acme");
    JsonObject shown =
        new JsonObject(verify(first, second, "-o", "json").ended(0).out())
            .getJsonArray("chains")
            .getJsonObject(0);
    assertEquals(7, shown.getInteger("rows"));
    assertEquals(2, shown.getInteger("last_batch"));
  }

  @Test
  void aFolderStandsForTheFilesInIt() throws IOException {
    file(writes.next(3));
    file(writes.next(3));
    file(new SampleBatches(2, "acme", true).next(2));
    Files.writeString(folder.resolve("trail/notes.txt"), "not of the trail");
    verify(folder.resolve("trail")).ended(0).says("writes").says("reads");
  }

  @Test
  void theFirstFaultIsNamedByFileAndLine() throws IOException {
    Path first = file(writes.next(3));
    Path second = file(writes.next(3));
    Files.writeString(first, Files.readString(first).replaceFirst("token|member|system", "xx"));
    verify(second, first).ended(4).says(first + ":").says("differs from its seal");
  }

  @Test
  void aMissingFileInTheMiddleIsAFault() throws IOException {
    Path first = file(writes.next(3));
    writes.next(3);
    Path third = file(writes.next(3));
    verify(first, third).ended(4).says(third + ":4: ").says("batch 2 is missing");
  }

  @Test
  void aBatchWhoseRowsWereCutOutAndMadeToLookPurgedIsNoWholeOne() throws IOException {
    Path first = file(writes.next(3));
    Path second = file(writes.next(3));
    List<String> lines = Files.readAllLines(second);
    JsonObject seal = new JsonObject(lines.get(lines.size() - 1)).put("activity_name", "purged");
    seal.getJsonObject("unmapped").put("kind", "purged");
    Files.writeString(second, seal.encode() + "\n");
    verify(first, second)
        .ended(4)
        .says("batches without rows: 1 of the writes (2)")
        .says("--allow-purged");
  }

  @Test
  void batchesWithoutRowsAreAcceptedAndNamedWhenThePersonSaysSo() throws IOException {
    Path first = file(writes.nextPurged(3));
    Path second = file(writes.next(3));
    verify(first, second).ended(4).says("1 of the writes (1)");
    JsonObject shown =
        new JsonObject(verify(first, second, "--allow-purged", "-o", "json").ended(0).out())
            .getJsonArray("chains")
            .getJsonObject(0);
    assertEquals(1, shown.getInteger("purged"));
    assertEquals("1", shown.getString("without_rows"));
  }

  @Test
  void aFolderThatCannotBeReadIsNamed() throws IOException {
    file(writes.next(3));
    Path closed = Files.createDirectories(folder.resolve("trail/closed"));
    Files.setPosixFilePermissions(closed, Set.of());
    try {
      assumeFalse(Files.isReadable(closed), "the administrator reads all folders");
      verify(folder.resolve("trail")).ended(2).says("cannot read");
    } finally {
      Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
    }
  }

  @Test
  void aLineOfAnyLengthIsNotReadToItsEnd() throws IOException {
    Path file = folder.resolve("long.ndjson");
    Files.write(file, new byte[BoundedLines.MAX_BYTES + 1]);
    verify(file).ended(4).says(file + ":1: a line of over 4 MiB");
  }

  @Test
  void whatIsNoTextIsNamed() throws IOException {
    Path file = folder.resolve("odd.ndjson");
    Files.write(file, new byte[] {'{', '}', '\n', (byte) 0xff, '\n'});
    verify(file).ended(4).says(file + ":1: it is no");
    Files.write(file, new byte[] {(byte) 0xff, '\n'});
    verify(file).ended(4).says(file + ":1: it is not UTF-8");
  }

  @Test
  void aFileThatIsNotThereAndNoFileAtAllAreWrongCommandLines() throws IOException {
    verify(folder.resolve("none")).ended(2).says("there is no such file");
    verify().ended(2);
    verify(Files.createDirectories(folder.resolve("empty"))).ended(2).says("no batch");
  }
}
