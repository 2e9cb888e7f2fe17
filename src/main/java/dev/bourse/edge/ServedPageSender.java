package dev.bourse.edge;

import dev.bourse.pages.ServedPage;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.Optional;

/** Sends a prepared page in the best content coding that the client accepts. */
record ServedPageSender(Exchange exchange, ServedPage page) {
  void send() {
    HttpServerResponse response = exchange.beginAnswer(page.status());
    if (response == null) {
      return;
    }
    HttpServerRequest request = exchange.request();
    MultiMap headers = response.headers();
    headers.add(HttpHeaders.CONTENT_TYPE, page.contentType());
    page.headers().forEach(headers::add);
    String accepted = request.getHeader(HttpHeaders.ACCEPT_ENCODING);
    Optional<String> coding =
        page.encodings().keySet().stream().filter(c -> Headers.accepts(accepted, c)).findFirst();
    String etag = coding.map(page::etag).orElse(page.etag());
    headers.add(HttpHeaders.ETAG, etag);
    if (!page.encodings().isEmpty()) {
      headers.add(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
    }
    String known = request.getHeader(HttpHeaders.IF_NONE_MATCH);
    if (known != null && Headers.matches(known, etag)) {
      response.setStatusCode(304);
      exchange.end(response, null);
      return;
    }
    coding.ifPresent(chosen -> headers.add(HttpHeaders.CONTENT_ENCODING, chosen));
    exchange.end(response, coding.map(page.encodings()::get).orElse(page.body()));
  }
}
