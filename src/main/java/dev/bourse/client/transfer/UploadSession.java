package dev.bourse.client.transfer;

import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import dev.bourse.remote.Service.Request;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The session of a resumable upload: where the bytes of one file go, in as many requests as it
 * takes.
 *
 * @param url a secret: who has it may send
 * @param size of the file
 */
record UploadSession(Service service, String url, long size) {
  /**
   * What goes in one request: enough that their number is far from any budget, and little enough
   * that not much is sent again where something in between keeps a request until it is whole.
   */
  private static final long STRETCH_BYTES = 64L << 20;

  /** Where a request that begins here ends. */
  long endOf(long start) {
    return Math.min(size, start + STRETCH_BYTES);
  }

  /** How many bytes the service has. */
  long kept() throws Refused {
    return stand(
        service.open(
            Request.of("PUT", url, Map.of("Content-Range", "bytes */" + size)),
            BodyHandlers.ofString(),
            Duration.ofSeconds(60)));
  }

  /**
   * Sends a stretch of the file.
   *
   * @return how many bytes the service has then
   */
  long send(long start, FileRange stretch, Transfer progress) throws Refused {
    Request request =
        new Request(
            "PUT",
            url,
            Map.of("Content-Range", "bytes " + start + '-' + (endOf(start) - 1) + '/' + size),
            stretch.body());
    return stand(
        StallWatchdog.over(
            progress, () -> service.open(request, BodyHandlers.ofString(), FileUpload.TRANSFER)));
  }

  /** What an answer says: how many bytes the service has. */
  private long stand(HttpResponse<String> answer) throws Refused {
    if (answer.statusCode() == 200) {
      return size;
    }
    if (answer.statusCode() != 308) {
      throw service.refusal(answer.statusCode(), answer.headers(), answer.body());
    }
    String range = answer.headers().firstValue("range").orElse("");
    if (range.isEmpty()) {
      return 0;
    }
    try {
      long last = Long.parseLong(range.substring("bytes=0-".length()));
      if (range.startsWith("bytes=0-") && last >= 0 && last < size) {
        return last + 1;
      }
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw odd(range, e);
    }
    throw odd(range, null);
  }

  private static Refused odd(String range, @Nullable Exception cause) {
    Refused refused =
        new Refused(
            ExitCode.REFUSED,
            "the service answered with an unexpected range: " + Text.plain(range));
    if (cause != null) {
      refused.initCause(cause);
    }
    return refused;
  }

  /** Without the address, which is a secret. */
  @Override
  public String toString() {
    return "UploadSession[size=" + size + ']';
  }
}
