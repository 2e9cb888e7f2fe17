package dev.bourse.client.transfer;

import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Service.Request;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The session of a resumable upload, which takes the bytes of one file in any number of requests.
 *
 * @param url a secret: its holder may send bytes
 * @param size of the file
 */
record UploadSession(Service service, String url, long size) {
  /**
   * The bytes of one request: large enough to stay far below request budgets, and small enough to
   * limit repetition where a proxy buffers whole requests.
   */
  private static final long STRETCH_BYTES = 64L << 20;

  /** The end of a request that starts here. */
  long endOf(long start) {
    return Math.min(size, start + STRETCH_BYTES);
  }

  /** The number of bytes the service has. */
  long readReceivedBytes() throws RefusedException {
    return receivedBytes(
        service.open(
            Request.of("PUT", url, Map.of("Content-Range", "bytes */" + size)),
            BodyHandlers.ofString(),
            Duration.ofSeconds(60)));
  }

  /**
   * Sends a part of the file.
   *
   * @return the number of bytes the service has afterwards
   */
  long send(long start, FileRange stretch, Transfer progress) throws RefusedException {
    Request request =
        new Request(
            "PUT",
            url,
            Map.of("Content-Range", "bytes " + start + '-' + (endOf(start) - 1) + '/' + size),
            stretch.body());
    return receivedBytes(
        StallWatchdog.run(
            progress, () -> service.open(request, BodyHandlers.ofString(), FileUpload.TRANSFER)));
  }

  /** The number of bytes the service has, from an answer. */
  private long receivedBytes(HttpResponse<String> answer) throws RefusedException {
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
      throw unexpectedRange(range, e);
    }
    throw unexpectedRange(range, null);
  }

  private static RefusedException unexpectedRange(String range, @Nullable Exception cause) {
    RefusedException refused =
        new RefusedException(
            ExitCode.REFUSED,
            "the service answered with an unexpected range: " + Text.plain(range));
    if (cause != null) {
      refused.initCause(cause);
    }
    return refused;
  }

  /** Omits the address, which is a secret. */
  @Override
  public String toString() {
    return "UploadSession[size=" + size + ']';
  }
}
