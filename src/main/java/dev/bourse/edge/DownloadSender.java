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
 * The sending of stored bytes: whole, a range, their headers alone, or word that the client has
 * them already. A file is sent by the operating system; a client that takes nothing of it for a
 * while, or too little, is one that {@link Connections} ends.
 */
final class DownloadSender {
  /** One piece in memory of bytes that are in no file. */
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
    // A store that is away is a refusal, which has to be known before the answer begins.
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

  /** The address is as good as a token for as long as it lasts, so nobody keeps it. */
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
   * @param first the first piece of bytes that are in no file; null when none are sent, or a file's
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

  /** A range counts only for the bytes the client has the others of (RFC 9110, section 13.1.5). */
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
   * Sends a piece and all behind it. Each is done with when the next begins: thousands of futures
   * that wait for one another would take memory, and in the end overflow the stack.
   *
   * @param piece the bytes at the offset, of all that are to be sent
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
