package dev.bourse.client.transfer;

import dev.bourse.core.Sizes;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
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

/**
 * Downloads a file under a temporary name beside its target, and renames it when its digest is
 * right.
 */
public final class FileDownload {
  private static final Duration HEAD = Duration.ofSeconds(60);
  private static final int PIECE = 1 << 16;
  private static final int TEMPORARY_REDIRECT = 307;

  /** The number of the digest's digits in the name of an incomplete file. */
  private static final int NAMING_DIGITS = 16;

  /** The longest name in bytes, for file systems and items. */
  private static final int MAX_NAME_BYTES = 255;

  private final Service service;
  private final CommandEnvironment environment;
  private final PrintWriter err;

  public FileDownload(Service service, CommandEnvironment environment, PrintWriter err) {
    this.service = service;
    this.environment = environment;
    this.err = err;
  }

  /**
   * A file to download.
   *
   * @param address of the bytes, under the service's own
   * @param size in bytes
   */
  record DownloadSource(String address, String sha256, long size) {}

  /**
   * Downloads an item's bytes.
   *
   * @param path of the item, on the organization's list or on the public feed
   * @param facts the service's answer about the item
   */
  public void fetch(String path, JsonObject facts, Path target) throws RefusedException {
    requireBytes(facts);
    DownloadSource wanted =
        new DownloadSource(path + "/content", facts.getString("sha256"), facts.getLong("bytes"));
    try (Progress progress =
        new Progress(err, environment, target.getFileName().toString(), 0, wanted.size())) {
      fetch(wanted, target, progress);
    }
  }

  /** Fails for an item without bytes. */
  static void requireBytes(JsonObject facts) throws RefusedException {
    if (facts.getString("sha256") == null || facts.getString("status").equals("pending")) {
      throw new RefusedException(
          ExitCode.REFUSED, facts.getString("id") + " has no bytes yet; try again later");
    }
  }

  /**
   * The temporary file. The digest in its name distinguishes it from the user's files and from
   * other downloads.
   */
  static Path part(Path target, String sha256) {
    String name = target.getFileName().toString();
    String ending = sha256.substring(0, NAMING_DIGITS) + ".part";
    boolean hasRoom =
        name.getBytes(StandardCharsets.UTF_8).length + 1 + ending.length() <= MAX_NAME_BYTES;
    return target.resolveSibling(hasRoom ? name + '.' + ending : ending);
  }

  /** Downloads bytes with a known digest, and replaces the target. */
  void fetch(DownloadSource wanted, Path target, Transfer progress) throws RefusedException {
    Path part = part(target, wanted.sha256());
    try (FileChannel file =
        FileChannel.open(
            part,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            // A symbolic link must not redirect the bytes to another file.
            LinkOption.NOFOLLOW_LINKS)) {
      if (!isOurs(file)) {
        throw new RefusedException(ExitCode.REFUSED, "another command is writing " + part);
      }
      long kept = file.size();
      if (kept > wanted.size()) {
        file.truncate(0);
        kept = 0;
      }
      String found = receive(wanted, part, file, progress);
      if (!found.equals(wanted.sha256()) && kept > 0) {
        progress.say(part + " held bytes of another file; starting again");
        file.truncate(0);
        found = receive(wanted, part, file, progress);
      }
      if (!found.equals(wanted.sha256())) {
        Files.deleteIfExists(part);
        throw new RefusedException(
            ExitCode.NOT_WHOLE,
            "the bytes differ from the published ones: sha256 %s, expected %s; nothing is kept"
                .formatted(found, wanted.sha256()));
      }
      file.force(true);
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw unwritable(part, e);
    }
  }

  private static RefusedException unwritable(Path part, IOException e) {
    return new RefusedException(ExitCode.USAGE, "cannot write " + part + ": " + IoWords.of(e));
  }

  /** The temporary file. Its failures are not retried, unlike the connection's. */
  private record Part(Path path, FileChannel file) {
    void truncate(long size) throws RefusedException {
      try {
        file.truncate(size);
      } catch (IOException e) {
        throw unwritable(path, e);
      }
    }

    void write(ByteBuffer bytes, long from) throws RefusedException {
      try {
        for (long at = from; bytes.hasRemaining(); ) {
          at += file.write(bytes, at);
        }
      } catch (IOException e) {
        throw unwritable(path, e);
      }
    }
  }

  private static boolean isOurs(FileChannel file) throws IOException {
    try {
      return file.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  /** Downloads the missing bytes; returns the digest of all. */
  private String receive(DownloadSource wanted, Path part, FileChannel file, Transfer progress)
      throws RefusedException, IOException {
    PrefixDigest arrived = new PrefixDigest().read(part, file, file.size());
    if (arrived.length() > 0) {
      progress.say(
          "%s: resuming at %s".formatted(part, Sizes.part(arrived.length(), wanted.size())));
    }
    progress.begin(arrived.length());
    RetryPolicy retries = new RetryPolicy(environment, progress);
    while (arrived.length() < wanted.size()) {
      PrefixDigest from = arrived;
      PrefixDigest[] now = {from};
      try {
        StallWatchdog.run(progress, () -> piece(wanted, from, new Part(part, file), progress, now));
      } catch (RefusedException e) {
        retries.after(e);
      } finally {
        arrived = now[0];
      }
      retries.arrived(arrived.length());
    }
    return arrived.sha256();
  }

  /** Makes one request, and appends the received bytes to the file and the digest. */
  private boolean piece(
      DownloadSource wanted, PrefixDigest from, Part part, Transfer progress, PrefixDigest[] now)
      throws RefusedException {
    HttpResponse<InputStream> answer = ask(wanted, from.length());
    try (InputStream body = answer.body()) {
      int status = answer.statusCode();
      if (status >= 300) {
        throw service.refusal(
            status, answer.headers(), new String(body.readNBytes(PIECE), StandardCharsets.UTF_8));
      }
      PrefixDigest digested = status == 206 ? from.copy() : new PrefixDigest();
      append(body, part, digested, wanted.size(), progress, now);
      if (digested.length() < wanted.size()) {
        throw new IOException("the answer ended early");
      }
      return true;
    } catch (IOException e) {
      throw service.lost(e);
    }
  }

  /** Requests the bytes from an offset on, from the service or the address it redirects to. */
  private HttpResponse<InputStream> ask(DownloadSource wanted, long from) throws RefusedException {
    Map<String, String> range = from > 0 ? Map.of("Range", "bytes=" + from + '-') : Map.of();
    Map<String, String> headers = new HashMap<>(range);
    String tag = '"' + wanted.sha256() + '"';
    if (from > 0) {
      // If the item was replaced, the answer is the whole new file rather than its end.
      headers.put("If-Range", tag);
    }
    HttpResponse<InputStream> answer =
        service.let(
            Request.of("GET", service.baseUrl() + wanted.address(), headers),
            BodyHandlers.ofInputStream(),
            HEAD);
    if (answer.statusCode() == TEMPORARY_REDIRECT) {
      return followRedirect(answer, range);
    }
    if (answer.statusCode() < 300 && !answer.headers().firstValue("etag").orElse("").equals(tag)) {
      close(answer);
      throw new RefusedException(
          ExitCode.REFUSED,
          "the item was replaced meanwhile; run the same command to download the new one");
    }
    return answer;
  }

  /**
   * Requests the bytes from an object store that the service redirects to, without the token. Its
   * entity tags are unrelated; the digest of all bytes reveals a change.
   */
  private HttpResponse<InputStream> followRedirect(
      HttpResponse<InputStream> answer, Map<String, String> range) throws RefusedException {
    close(answer);
    String location = answer.headers().firstValue("location").orElse("");
    if (!location.startsWith("https://") && !location.startsWith("http://")) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "the service redirected to an invalid address: " + Text.plain(location));
    }
    HttpResponse<InputStream> found =
        service.open(Request.of("GET", location, range), BodyHandlers.ofInputStream(), HEAD);
    if (found.statusCode() >= 300) {
      close(found);
      // The next attempt gets a new redirect, because this address may have expired.
      throw new RefusedException(
          ExitCode.UNAVAILABLE, "the store of the bytes answers with status " + found.statusCode());
    }
    return found;
  }

  private void close(HttpResponse<InputStream> answer) throws RefusedException {
    try {
      answer.body().close();
    } catch (IOException e) {
      throw service.lost(e);
    }
  }

  private static void append(
      InputStream body,
      Part part,
      PrefixDigest digested,
      long size,
      Transfer progress,
      PrefixDigest[] now)
      throws IOException, RefusedException {
    part.truncate(digested.length());
    now[0] = digested;
    byte[] piece = new byte[PIECE];
    for (int count = body.read(piece); count >= 0; count = body.read(piece)) {
      if (digested.length() + count > size) {
        throw new RefusedException(ExitCode.REFUSED, "received more bytes than were published");
      }
      part.write(ByteBuffer.wrap(piece, 0, count), digested.length());
      digested.add(piece, 0, count);
      progress.at(digested.length());
    }
  }
}
