package dev.bourse.access;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The private keys of one process, in files of its data folder. Every method blocks. */
final class SigningKeyFolder {
  private static final String FOLDER = "signing-keys";

  /** Where earlier versions kept the one key there was. */
  private static final String ONLY_KEY = "signing-key.pem";

  private final Path data;
  private final Path folder;

  /** A key and when its file was written. */
  record Kept(SigningKey key, long writtenAtMillis) {}

  SigningKeyFolder(Path data) {
    this.data = data;
    this.folder = data.resolve(FOLDER);
  }

  /** All keys kept, in no order. */
  List<Kept> read() throws IOException {
    adopt();
    List<Kept> kept = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.pem")) {
        for (Path file : files) {
          kept.add(new Kept(SigningKey.read(file), Files.getLastModifiedTime(file).toMillis()));
        }
      }
    }
    return kept;
  }

  private void adopt() throws IOException {
    Path only = data.resolve(ONLY_KEY);
    if (Files.exists(only)) {
      SigningKey.read(only).writeTo(folder);
      Files.delete(only);
    }
  }

  /** A new key, on disk. */
  SigningKey make() throws IOException {
    SigningKey key = SigningKey.generate();
    key.writeTo(folder);
    return key;
  }

  /** Forgets a key that signs no more. */
  void delete(SigningKey key) throws IOException {
    Files.deleteIfExists(key.fileIn(folder));
  }
}
