package dev.bourse.install;

import dev.bourse.blob.Reading;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.Digests;
import dev.bourse.core.Lazy;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The jar that this process runs from, open until the process stops. Downloads share the open file,
 * and the operating system sends it, except over TLS.
 */
public final class ProgramJar implements AutoCloseable {
  /**
   * Downloads at once. Each occupies a connection, which the edge limits too; beyond this number
   * clients are asked to try again.
   */
  static final int DOWNLOADS = 64;

  /** Downloads at once of one network: a small cluster that installs the program everywhere. */
  static final int DOWNLOADS_OF_NETWORK = 16;

  private static final int BLOCK_BYTES = 256 * 1024;

  private final FileChannel file;
  private final long bytes;
  private final Lazy<String> sha256 = new Lazy<>(this::digest);
  private final Bulkhead downloads =
      Bulkhead.of("downloads of the program", DOWNLOADS).sharing(DOWNLOADS_OF_NETWORK);

  private ProgramJar(FileChannel file, long bytes) {
    this.file = file;
    this.bytes = bytes;
  }

  /**
   * Opens the jar.
   *
   * @param path where the program's classes come from
   * @return empty if that is a folder, as in development
   * @throws UncheckedIOException when the jar cannot be opened
   */
  public static Optional<ProgramJar> open(Path path) {
    if (!Files.isRegularFile(path)) {
      return Optional.empty();
    }
    try {
      FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
      return Optional.of(new ProgramJar(file, file.size()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open " + path, e);
    }
  }

  /** The length in bytes. */
  long bytes() {
    return bytes;
  }

  /** The digest in hexadecimal. Reads the whole file on first use: call it off the event loops. */
  String sha256() {
    return sha256.get();
  }

  private String digest() {
    MessageDigest digest = Digests.newSha256();
    ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
    try {
      for (long at = 0; at < bytes; at += block.position()) {
        block.clear();
        if (file.read(block, at) < 0) {
          throw new IOException("the file became shorter than " + bytes + " bytes");
        }
        digest.update(block.array(), 0, block.position());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the program's jar", e);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /**
   * Begins a download.
   *
   * @param network the caller's network
   * @throws dev.bourse.core.ApiException {@code overloaded} when there are too many
   */
  Reading read(String network) {
    return new Download(downloads.enter(network));
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close the program's jar", e);
    }
  }

  /** One reader of the open file. */
  private final class Download implements Reading {
    private final Bulkhead.Place place;

    Download(Bulkhead.Place place) {
      this.place = place;
    }

    @Override
    public long length() {
      return bytes;
    }

    @Override
    public Optional<FileChannel> file() {
      return Optional.of(file);
    }

    @Override
    public Future<Buffer> piece(long offset, int length) {
      return Future.failedFuture(new IllegalStateException("the program's jar is sent as a file"));
    }

    @Override
    public Future<Void> close() {
      place.close();
      return Future.succeededFuture();
    }
  }
}
