package dev.bourse.client.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.remote.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The folder of a set whose name was chosen by its publisher. */
class SetDownloadTest {
  private static final SetManifest.Entry SHARD =
      new SetManifest.Entry("shards/0.bin", 1, "ab".repeat(32));

  private final SetManifest manifest = new SetManifest(List.of(SHARD));
  private final Path home;
  private final Path folder;

  SetDownloadTest(@TempDir Path home) {
    this.home = home;
    folder = home.resolve("llama");
  }

  @BeforeEach
  void downloadAPart() throws IOException {
    Files.createDirectories(folder.resolve("shards"));
    Path shard = Files.write(folder.resolve(SHARD.path()), new byte[] {1});
    Files.write(FileDownload.part(shard, SHARD.sha256()), new byte[0]);
  }

  private String refusal(Path named) {
    return assertThrows(
            RefusedException.class, () -> SetDownload.requireNothingElse(manifest, named))
        .getMessage();
  }

  @Test
  void aFolderWithFilesAndPartsOfTheSetIsUsedAgain() throws Exception {
    SetDownload.requireNothingElse(manifest, folder);
  }

  @Test
  void aFolderWithAnotherFileIsRefused() throws IOException {
    Files.write(folder.resolve("notes.txt"), new byte[] {1});
    assertEquals(
        "llama has other files, such as notes.txt; -o llama writes into it", refusal(folder));
  }

  @Test
  void aLinkIsRefused() throws IOException {
    Path link = Files.createSymbolicLink(home.resolve("link"), folder);
    assertEquals("link is a symbolic link; -o link follows it", refusal(link));
  }
}
