package dev.bourse.edge;

import dev.bourse.edge.limits.Connections;
import dev.bourse.edge.limits.OpenConnection;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Sends stored bytes: the whole content, a range, the headers only, or 304. The operating system
 * sends files, except over TLS. {@link Connections} disconnects a client that takes no bytes for a
 * while, or too few.
 */
final class DownloadSender {
  /** A piece in memory, for bytes that are not in a file. */
  private static final int PIECE_BYTES = 256 * 1024;

  private static final int TEMPORARY_REDIRECT = 307;

  private static final CharSequence BYTES = HttpHeaders.createOptimized("bytes");
  private static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");

  private final Exchange exchange;
  private final OpenConnection connection;
  private final Answer.Download download;

  DownloadSender(Exchange exchange, OpenConnection connection, Answer.Download download) {
    this.exchange = exchange;
    this.connection = connection;
    this.download = download;
  }

  void begin() {
    try {
      answer();
    } catch (Throwable fault) {
      download.bytes().close();
      throw fault;
    }
  }

  private void answer() {
    HttpServerRequest request = exchange.request();
    long total = download.bytes().length();
    boolean isHead = HttpMethod.HEAD.equals(request.method());
    String known = request.getHeader(HttpHeaders.IF_NONE_MATCH);
    ByteRange range = isHead ? null : range(request, total);
    boolean isKnown = known != null && Headers.matches(known, download.etag());
    int status = isKnown ? 304 : range == null ? 200 : range.offset() < 0 ? 416 : 206;
    long offset = range == null ? 0 : Math.max(0, range.offset());
    long length = range == null ? total : range.length();
    boolean sendsBytes = !isHead && !isKnown && status != 416 && length > 0;
    if (sendsBytes && download.elsewhere() != null) {
      lead(download.elsewhere());
      return;
    }
    if (!sendsBytes || download.bytes().file().isPresent()) {
      answer(status, range, null);
      return;
    }
    // A failure of the store must be known before the response starts.
    first(offset, length)
        .onSuccess(first -> answer(status, range, first))
        .onFailure(
            unread -> {
              download.bytes().close();
              exchange.fail(unread);
            });
  }

  private Future<Buffer> first(long offset, long length) {
    return length > PIECE_BYTES
        ? download.bytes().piece(offset, PIECE_BYTES)
        : download.bytes().onlyPiece(offset, (int) length);
  }

  /**
   * Redirects to an address, which must not be cached because it grants access while it is valid.
   */
  private void lead(URI elsewhere) {
    HttpServerResponse response = exchange.beginAnswer(TEMPORARY_REDIRECT);
    if (response == null) {
      download.bytes().close();
      return;
    }
    response
        .headers()
        .add(HttpHeaders.LOCATION, elsewhere.toString())
        .add(HttpHeaders.CACHE_CONTROL, NO_STORE);
    finish(response);
  }

  /**
   * @param first the first piece of bytes that are not in a file; null for a file or a response
   *     without bytes
   */
  private void answer(int status, @Nullable ByteRange range, @Nullable Buffer first) {
    HttpServerRequest request = exchange.request();
    long total = download.bytes().length();
    boolean isHead = HttpMethod.HEAD.equals(request.method());
    HttpServerResponse response = exchange.beginAnswer(status);
    if (response == null) {
      download.bytes().close();
      return;
    }
    MultiMap headers = response.headers();
    headers
        .add(HttpHeaders.CACHE_CONTROL, NO_STORE)
        .add(HttpHeaders.ETAG, download.etag())
        .add(HttpHeaders.ACCEPT_RANGES, BYTES);
    download.headers().forEach(headers::set);
    if (status == 304) {
      finish(response);
      return;
    }
    if (status == 416) {
      headers.add(HttpHeaders.CONTENT_RANGE, "bytes */" + total);
      finish(response);
      return;
    }
    headers.add(HttpHeaders.CONTENT_TYPE, download.contentType());
    long offset = range == null ? 0 : range.offset();
    long length = range == null ? total : range.length();
    headers.add(HttpHeaders.CONTENT_LENGTH, Long.toString(length));
    if (range != null) {
      headers.add(
          HttpHeaders.CONTENT_RANGE, "bytes " + offset + '-' + (offset + length - 1) + '/' + total);
    }
    if (isHead || length == 0) {
      finish(response);
      return;
    }
    send(response, offset, length, first);
  }

  /**
   * Returns the range if the client's other bytes are of this version (RFC 9110, section 13.1.5).
   */
  private @Nullable ByteRange range(HttpServerRequest request, long total) {
    String condition = request.getHeader("if-range");
    return condition == null || condition.equals(download.etag())
        ? ByteRange.of(request.getHeader("range"), total)
        : null;
  }

  private void finish(HttpServerResponse response) {
    download.bytes().close();
    exchange.end(response, null);
  }

  private void send(HttpServerResponse response, long offset, long length, @Nullable Buffer first) {
    exchange.count(response.getStatusCode());
    connection.downloadBegins();
    Future<Void> sending =
        first == null
            ? response.sendFile(
                new ProgressChannel(
                    download.bytes().file().orElseThrow(),
                    bytes -> connection.downloadGoesOn(bytes)),
                offset,
                length)
            : sendPieces(response, offset, length, first);
    sending.onComplete(
        sent -> {
          download.bytes().close();
          if (sent.succeeded()) {
            exchange.sent();
          } else {
            exchange.cutOff(response.getStatusCode(), sent.cause());
            connection.close();
          }
        });
  }

  private Future<Void> sendPieces(
      HttpServerResponse response, long offset, long length, Buffer first) {
    Promise<Void> sent = Promise.promise();
    sendPiece(response, offset, length, first, sent);
    return sent.future();
  }

  /**
   * Sends a piece and all after it. Each future completes when the next piece begins: a chain of
   * thousands of futures would take memory and overflow the stack.
   *
   * @param piece the bytes at the offset
   */
  private void sendPiece(
      HttpServerResponse response, long offset, long length, Buffer piece, Promise<Void> sent) {
    connection.sends();
    int bytes = piece.length();
    Future<Void> taken =
        response.write(piece).onSuccess(written -> connection.downloadGoesOn(bytes));
    if (length == bytes) {
      taken.compose(all -> response.end()).onComplete(sent);
      return;
    }
    long left = length - bytes;
    taken
        .compose(more -> download.bytes().piece(offset + bytes, (int) Math.min(PIECE_BYTES, left)))
        .onComplete(next -> sendPiece(response, offset + bytes, left, next, sent), sent::fail);
  }
}
