package dev.bourse.client.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cache of digests. */
@Tag("fast")
@SuppressWarnings("NullAway.Init") // JUnit gives the folder before each test.
class FolderDigestsTest {
  private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2026-01-01T00:00:00Z"));

  @TempDir private Path home;
  @TempDir private Path folder;
  private Path file;
  private CommandEnvironment environment;
  private ConfigFolder place;

  @BeforeEach
  void begin() throws IOException {
    environment =
        new CommandEnvironment(
            Map.of("XDG_CONFIG_HOME", home.toString()),
            false,
            // Late enough that files written by a test are old.
            Clock.offset(Clock.systemUTC(), Duration.ofMinutes(1)),
            new Random(1),
            over -> {},
            Optional::empty,
            Optional.empty());
    place = new ConfigFolder(environment);
    file = Files.writeString(folder.resolve("a.bin"), "one");
    Files.setLastModifiedTime(file, LONG_AGO);
  }

  private FolderDigests read() throws RefusedException {
    return new FolderDigests(place, environment.clock(), folder);
  }

  private String digest(FolderDigests digests) throws RefusedException {
    Progress progress = new Progress(new PrintWriter(new StringWriter()), environment, "f", 0, 3);
    return digests.sha256("a.bin", LocalFile.look(file), progress);
  }

  @Test
  void aDigestIsKeptForWhoeverComesNextUntilTheFileChanges() throws Exception {
    FolderDigests digests = read();
    String one = digest(digests);
    digests.write();
    assertTrue(read().knows("a.bin", LocalFile.look(file)));
    // The cached digest is returned, rather than that of the content.
    digests.remember("a.bin", LocalFile.look(file), "remembered");
    digests.write();
    assertEquals("remembered", digest(read()));
    Files.setLastModifiedTime(file, FileTime.from(LONG_AGO.toInstant().plusMillis(1)));
    assertEquals(one, digest(read()));
  }

  @Test
  void aFileThatIsReplacedByOneOfTheSameSizeAndTimeIsReadAgain() throws Exception {
    FolderDigests digests = read();
    String one = digest(digests);
    digests.write();
    // As after unpacking an archive whose files all have one time.
    Path other = Files.writeString(folder.resolve("other"), "two");
    Files.setLastModifiedTime(other, LONG_AGO);
    Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
    assertFalse(read().knows("a.bin", LocalFile.look(file)));
    assertFalse(digest(read()).equals(one));
  }

  @Test
  void aFileThatIsOverwrittenAndGivenItsTimeBackIsReadAgain() throws Exception {
    FolderDigests digests = read();
    LocalFile before = LocalFile.look(file);
    String one = digest(digests);
    digests.write();
    do {
      // Until the file system's clock has advanced.
      Files.writeString(file, "two");
      Files.setLastModifiedTime(file, LONG_AGO);
    } while (Objects.equals(LocalFile.look(file).stamp(), before.stamp()));
    assertFalse(digest(read()).equals(one));
  }

  @Test
  void whatAnEarlierReleaseRememberedOfLessIsReadAgain() throws Exception {
    FolderDigests digests = read();
    String one = digest(digests);
    digests.remember("a.bin", LocalFile.look(file), "remembered");
    digests.write();
    try (Stream<Path> written = Files.walk(home)) {
      for (Path json : written.filter(Files::isRegularFile).toList()) {
        JsonObject kept = new JsonObject(Files.readString(json));
        kept.getJsonObject("files").getJsonObject("a.bin").remove("changed_at");
        Files.writeString(json, kept.encode());
      }
    }
    assertEquals(one, digest(read()));
  }

  @Test
  void aFileThatWasWrittenJustNowIsReadAgain() throws Exception {
    Files.setLastModifiedTime(file, FileTime.from(environment.clock().instant()));
    FolderDigests digests = read();
    String one = digest(digests);
    FileTime written = Files.getLastModifiedTime(file);
    Files.writeString(file, "two");
    Files.setLastModifiedTime(file, written);
    assertFalse(digest(digests).equals(one));
  }

  @Test
  void whatIsForgottenIsComputedAnew() throws Exception {
    FolderDigests digests = read();
    digest(digests);
    digests.forget("a.bin");
    assertFalse(read().knows("a.bin", LocalFile.look(file)));
    digest(digests);
    digests.keepOnly(Set.of("b.bin"));
    assertFalse(digests.knows("a.bin", LocalFile.look(file)));
  }
}
