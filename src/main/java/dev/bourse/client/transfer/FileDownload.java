package dev.bourse.client.transfer;

import dev.bourse.core.Sizes;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import dev.bourse.remote.Service.Request;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Downloads a file into {@code FILE.part}, which is renamed when its digest is right. */
public final class FileDownload {
  private static final Duration HEAD = Duration.ofSeconds(60);
  private static final int PIECE = 1 << 16;

  private final Service service;
  private final CommandEnvironment environment;
  private final PrintWriter err;

  public FileDownload(Service service, CommandEnvironment environment, PrintWriter err) {
    this.service = service;
    this.environment = environment;
    this.err = err;
  }

  /**
   * Fetches.
   *
   * @param path of the item, on the organization's list or on the public feed
   * @param facts what the service says of the item
   */
  public void fetch(String path, JsonObject facts, Path target) throws Refused {
    String sha256 = facts.getString("sha256");
    long size = facts.getLong("bytes");
    if (sha256 == null || facts.getString("status").equals("pending")) {
      throw new Refused(
          ExitCode.REFUSED, facts.getString("id") + " has no bytes yet; try again later");
    }
    Path part = target.resolveSibling(target.getFileName() + ".part");
    try (FileChannel file =
        FileChannel.open(
            part,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            // A symbolic link must not lead the bytes to another file.
            LinkOption.NOFOLLOW_LINKS)) {
      if (!isOurs(file)) {
        throw new Refused(ExitCode.REFUSED, "another command is writing " + part);
      }
      long kept = file.size();
      if (kept > size) {
        file.truncate(0);
        kept = 0;
      }
      String found = receive(path, sha256, size, part, file);
      if (!found.equals(sha256) && kept > 0) {
        err.println(part + " held bytes of another file; starting again");
        file.truncate(0);
        found = receive(path, sha256, size, part, file);
      }
      if (!found.equals(sha256)) {
        Files.deleteIfExists(part);
        throw new Refused(
            ExitCode.NOT_WHOLE,
            "the bytes are not those that were published: sha256 %s, expected %s; nothing is kept"
                .formatted(found, sha256));
      }
      file.force(true);
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot write " + part + ": " + e);
    }
  }

  private static boolean isOurs(FileChannel file) throws IOException {
    try {
      return file.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  /** Fetches what is missing; the digest of all. */
  private String receive(String path, String sha256, long size, Path part, FileChannel file)
      throws Refused, IOException {
    PrefixDigest arrived = new PrefixDigest().read(part, file, file.size());
    if (arrived.length() > 0) {
      err.printf("%s: resuming at %s%n", part, Sizes.part(arrived.length(), size));
    }
    try (Progress progress =
        new Progress(err, environment, part.getFileName().toString(), arrived.length(), size)) {
      RetryPolicy retries = new RetryPolicy(environment, progress);
      while (arrived.length() < size) {
        PrefixDigest from = arrived;
        PrefixDigest[] now = {from};
        try {
          StallWatchdog.over(progress, () -> piece(path, sha256, size, from, file, progress, now));
        } catch (Refused e) {
          retries.after(e);
        } finally {
          arrived = now[0];
        }
        retries.arrived(arrived.length());
      }
      return arrived.sha256();
    }
  }

  /** One request: appends what comes to the file and to the digest. */
  private boolean piece(
      String path,
      String sha256,
      long size,
      PrefixDigest from,
      FileChannel file,
      Progress progress,
      PrefixDigest[] now)
      throws Refused {
    Map<String, String> headers = new HashMap<>();
    if (from.length() > 0) {
      headers.put("Range", "bytes=" + from.length() + '-');
      // Should the item have been replaced, all of it comes, and not the end of another file.
      headers.put("If-Range", '"' + sha256 + '"');
    }
    HttpResponse<InputStream> answer =
        service.let(
            Request.of("GET", service.baseUrl() + path + "/content", headers),
            BodyHandlers.ofInputStream(),
            HEAD);
    try (InputStream body = answer.body()) {
      int status = answer.statusCode();
      if (status >= 300) {
        throw service.refusal(
            status, answer.headers(), new String(body.readNBytes(PIECE), StandardCharsets.UTF_8));
      }
      String tag = answer.headers().firstValue("etag").orElse("");
      if (!tag.equals('"' + sha256 + '"')) {
        throw new Refused(
            ExitCode.REFUSED, "the item was replaced meanwhile; the same command fetches the new");
      }
      PrefixDigest digested = status == 206 ? from.copy() : new PrefixDigest();
      append(body, file, digested, size, progress, now);
      if (digested.length() < size) {
        throw new IOException("the answer ended early");
      }
      return true;
    } catch (IOException e) {
      throw service.lost(e);
    }
  }

  private static void append(
      InputStream body,
      FileChannel file,
      PrefixDigest digested,
      long size,
      Progress progress,
      PrefixDigest[] now)
      throws IOException, Refused {
    file.truncate(digested.length());
    now[0] = digested;
    byte[] piece = new byte[PIECE];
    for (int count = body.read(piece); count >= 0; count = body.read(piece)) {
      if (digested.length() + count > size) {
        throw new Refused(ExitCode.REFUSED, "more bytes came than were published");
      }
      ByteBuffer bytes = ByteBuffer.wrap(piece, 0, count);
      long at = digested.length();
      while (bytes.hasRemaining()) {
        at += file.write(bytes, at);
      }
      digested.add(piece, 0, count);
      progress.at(digested.length());
    }
  }
}
