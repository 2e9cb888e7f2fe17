package dev.bourse.client.transfer;

import dev.bourse.core.Sizes;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
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

/** Downloads a file beside its place, from where it is renamed when its digest is right. */
public final class FileDownload {
  private static final Duration HEAD = Duration.ofSeconds(60);
  private static final int PIECE = 1 << 16;
  private static final int TEMPORARY_REDIRECT = 307;

  /** So many digits of a digest are in the name of what is not whole yet. */
  private static final int NAMING_DIGITS = 16;

  /** What file systems take, and items may be called. */
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
   * What is to be fetched.
   *
   * @param address of the bytes, under the service's own
   * @param size in bytes
   */
  record Wanted(String address, String sha256, long size) {}

  /**
   * Fetches an item's bytes.
   *
   * @param path of the item, on the organization's list or on the public feed
   * @param facts what the service says of the item
   */
  public void fetch(String path, JsonObject facts, Path target) throws Refused {
    requireBytes(facts);
    Wanted wanted =
        new Wanted(path + "/content", facts.getString("sha256"), facts.getLong("bytes"));
    try (Progress progress =
        new Progress(err, environment, target.getFileName().toString(), 0, wanted.size())) {
      fetch(wanted, target, progress);
    }
  }

  /** Fails for an item whose bytes never came. */
  static void requireBytes(JsonObject facts) throws Refused {
    if (facts.getString("sha256") == null || facts.getString("status").equals("pending")) {
      throw new Refused(
          ExitCode.REFUSED, facts.getString("id") + " has no bytes yet; try again later");
    }
  }

  /**
   * Where bytes are until they are whole. The digest is in the name, so that it is no name of
   * somebody's own file, nor of another file that is fetched at the same time.
   */
  static Path part(Path target, String sha256) {
    String name = target.getFileName().toString();
    String ending = sha256.substring(0, NAMING_DIGITS) + ".part";
    boolean hasRoom =
        name.getBytes(StandardCharsets.UTF_8).length + 1 + ending.length() <= MAX_NAME_BYTES;
    return target.resolveSibling(hasRoom ? name + '.' + ending : ending);
  }

  /** Fetches bytes of a known digest; what is at the target is replaced. */
  void fetch(Wanted wanted, Path target, Transfer progress) throws Refused {
    Path part = part(target, wanted.sha256());
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
        throw new Refused(
            ExitCode.NOT_WHOLE,
            "the bytes are not those that were published: sha256 %s, expected %s; nothing is kept"
                .formatted(found, wanted.sha256()));
      }
      file.force(true);
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw unwritable(part, e);
    }
  }

  private static Refused unwritable(Path part, IOException e) {
    return new Refused(ExitCode.USAGE, "cannot write " + part + ": " + IoWords.of(e));
  }

  /** Where the bytes go. Its failures are not the connection's: no other try meets less of them. */
  private record Part(Path path, FileChannel file) {
    void truncate(long size) throws Refused {
      try {
        file.truncate(size);
      } catch (IOException e) {
        throw unwritable(path, e);
      }
    }

    void write(ByteBuffer bytes, long from) throws Refused {
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

  /** Fetches what is missing; the digest of all. */
  private String receive(Wanted wanted, Path part, FileChannel file, Transfer progress)
      throws Refused, IOException {
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
        StallWatchdog.over(
            progress, () -> piece(wanted, from, new Part(part, file), progress, now));
      } catch (Refused e) {
        retries.after(e);
      } finally {
        arrived = now[0];
      }
      retries.arrived(arrived.length());
    }
    return arrived.sha256();
  }

  /** One request: appends what comes to the file and to the digest. */
  private boolean piece(
      Wanted wanted, PrefixDigest from, Part part, Transfer progress, PrefixDigest[] now)
      throws Refused {
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

  /** Asks for the bytes from an offset on, where the service has them or leads to. */
  private HttpResponse<InputStream> ask(Wanted wanted, long from) throws Refused {
    Map<String, String> range = from > 0 ? Map.of("Range", "bytes=" + from + '-') : Map.of();
    Map<String, String> headers = new HashMap<>(range);
    String tag = '"' + wanted.sha256() + '"';
    if (from > 0) {
      // Should the item have been replaced, all of it comes, and not the end of another file.
      headers.put("If-Range", tag);
    }
    HttpResponse<InputStream> answer =
        service.let(
            Request.of("GET", service.baseUrl() + wanted.address(), headers),
            BodyHandlers.ofInputStream(),
            HEAD);
    if (answer.statusCode() == TEMPORARY_REDIRECT) {
      return elsewhere(answer, range);
    }
    if (answer.statusCode() < 300 && !answer.headers().firstValue("etag").orElse("").equals(tag)) {
      close(answer);
      throw new Refused(
          ExitCode.REFUSED, "the item was replaced meanwhile; the same command fetches the new");
    }
    return answer;
  }

  /**
   * Asks where the service leads to, an object store, which is not shown the token. Its tags are
   * its own; the digest of all bytes tells whether they are those that were meant.
   */
  private HttpResponse<InputStream> elsewhere(
      HttpResponse<InputStream> answer, Map<String, String> range) throws Refused {
    close(answer);
    String location = answer.headers().firstValue("location").orElse("");
    if (!location.startsWith("https://") && !location.startsWith("http://")) {
      throw new Refused(
          ExitCode.REFUSED, "the service leads to no address: " + Text.plain(location));
    }
    HttpResponse<InputStream> found =
        service.open(Request.of("GET", location, range), BodyHandlers.ofInputStream(), HEAD);
    if (found.statusCode() >= 300) {
      close(found);
      // The next try is led anew: this address may have run out.
      throw new Refused(
          ExitCode.UNAVAILABLE, "the store of the bytes answers with status " + found.statusCode());
    }
    return found;
  }

  private void close(HttpResponse<InputStream> answer) throws Refused {
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
      throws IOException, Refused {
    part.truncate(digested.length());
    now[0] = digested;
    byte[] piece = new byte[PIECE];
    for (int count = body.read(piece); count >= 0; count = body.read(piece)) {
      if (digested.length() + count > size) {
        throw new Refused(ExitCode.REFUSED, "more bytes came than were published");
      }
      part.write(ByteBuffer.wrap(piece, 0, count), digested.length());
      digested.add(piece, 0, count);
      progress.at(digested.length());
    }
  }
}
