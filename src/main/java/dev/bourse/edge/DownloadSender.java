package dev.bourse.edge;

import dev.bourse.edge.limits.Connections;
import dev.bourse.edge.limits.OpenConnection;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.nio.channels.FileChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The sending of stored bytes: whole, a range, their headers alone, or word that the client has
 * them already. A file is sent by the operating system; a client that takes nothing of it for a
 * while, or too little, is one that {@link Connections} ends.
 */
final class DownloadSender {
  /** One piece in memory of bytes that are in no file. */
  private static final int PIECE_BYTES = 256 * 1024;

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
    download.headers().forEach(headers::add);
    if (isKnown) {
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
    send(response, offset, length);
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

  private void send(HttpServerResponse response, long offset, long length) {
    Optional<FileChannel> file = download.bytes().file();
    exchange.count(response.getStatusCode());
    connection.downloadBegins();
    Future<Void> sending =
        file.isPresent()
            ? response.sendFile(
                new ProgressChannel(file.get(), bytes -> connection.downloadGoesOn(bytes)),
                offset,
                length)
            : sendPieces(response, offset, length);
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

  private Future<Void> sendPieces(HttpServerResponse response, long offset, long length) {
    if (length == 0) {
      return response.end();
    }
    int piece = (int) Math.min(PIECE_BYTES, length);
    return download
        .bytes()
        .piece(offset, piece)
        .compose(
            (Buffer bytes) -> {
              connection.sends();
              return response.write(bytes);
            })
        .onSuccess(taken -> connection.downloadGoesOn(piece))
        .compose(taken -> sendPieces(response, offset + piece, length - piece));
  }
}
