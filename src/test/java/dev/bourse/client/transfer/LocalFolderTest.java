package dev.bourse.client.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.remote.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a folder that are published. */
@Tag("fast")
@SuppressWarnings("NullAway.Init") // JUnit gives the folder before each test.
class LocalFolderTest {
  @TempDir private Path folder;

  private void file(String path) throws IOException {
    Path file = folder.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, path);
  }

  private List<String> paths(boolean withHidden) throws RefusedException {
    return LocalFolder.look(folder, withHidden).files().stream()
        .map(LocalFolder.Member::path)
        .toList();
  }

  private void refused(String why) {
    RefusedException refused =
        assertThrows(RefusedException.class, () -> LocalFolder.look(folder, false));
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  @Test
  void filesOfAllDepthsAreSortedByTheirPaths() throws Exception {
    file("b.bin");
    file("a/z.bin");
    file("a/deep/er.bin");
    Files.createFile(folder.resolve("empty"));
    Files.createDirectory(folder.resolve("nothing in it"));
    LocalFolder looked = LocalFolder.look(folder, false);
    assertEquals(List.of("a/deep/er.bin", "a/z.bin", "b.bin", "empty"), paths(false));
    assertEquals(folder.getFileName().toString(), looked.name());
    assertEquals("a/deep/er.bin".length() + "a/z.bin".length() + 5, looked.size());
  }

  @Test
  void hiddenFilesAreLeftOutAndNamedUnlessAskedFor() throws Exception {
    file("model.bin");
    file(".git/config");
    file("sub/.DS_Store");
    assertEquals(List.of("model.bin"), paths(false));
    assertEquals(
        List.of(".git", "sub/.DS_Store"),
        LocalFolder.look(folder, false).leftOut().stream().sorted().toList());
    assertEquals(List.of(".git/config", "model.bin", "sub/.DS_Store"), paths(true));
  }

  @Test
  void aLinkToAFileIsThatFileAndNoOtherIsFollowed() throws Exception {
    file("real.bin");
    Files.createSymbolicLink(folder.resolve("link.bin"), folder.resolve("real.bin"));
    assertEquals(List.of("link.bin", "real.bin"), paths(false));
    Path loop = Files.createSymbolicLink(folder.resolve("loop"), folder);
    refused("loop is a symbolic link without a target file");
    Files.delete(loop);
    Files.createSymbolicLink(folder.resolve("broken"), folder.resolve("gone"));
    refused("broken is a symbolic link without a target file");
  }

  @Test
  void whatHasNothingToPublishIsRefused() throws Exception {
    refused("has no file to publish");
    Path file = Files.writeString(folder.resolve("one.bin"), "x");
    RefusedException refused =
        assertThrows(RefusedException.class, () -> LocalFolder.look(file, false));
    assertTrue(refused.getMessage().contains("is not a folder"), refused.getMessage());
  }

  @Test
  void moreFilesThanASetMayHaveAreRefusedBeforeAnyIsRead() throws Exception {
    for (int i = 0; i <= 4_096; i++) {
      Files.createFile(folder.resolve("f" + i));
    }
    refused("more than 4,096 files");
  }
}
