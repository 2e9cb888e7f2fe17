package dev.bourse.access;

import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The private keys of one process, in files of its data folder. */
final class SigningKeyFolder implements PrivateKeys {
  private static final String FOLDER = "signing-keys";

  /** The file of the only key in earlier versions. */
  private static final String ONLY_KEY = "signing-key.pem";

  private final Vertx vertx;
  private final Path data;
  private final Path folder;

  SigningKeyFolder(Vertx vertx, Path data) {
    this.vertx = vertx;
    this.data = data;
    this.folder = data.resolve(FOLDER);
  }

  @Override
  public Future<List<Kept>> read() {
    return vertx.executeBlocking(this::readFiles);
  }

  private List<Kept> readFiles() throws IOException {
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

  @Override
  public Future<List<Statement>> keep(SigningKey key) {
    return vertx.executeBlocking(
        () -> {
          key.writeTo(folder);
          return List.of();
        });
  }

  @Override
  public List<Statement> deletions(SigningKey key) {
    return List.of();
  }

  @Override
  public Future<Void> forget(SigningKey key) {
    return vertx.executeBlocking(
        () -> {
          Files.deleteIfExists(key.fileIn(folder));
          return null;
        });
  }

  @Override
  public boolean isShared() {
    return false;
  }
}
