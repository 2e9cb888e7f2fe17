package dev.bourse.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Addresses of receivers as trails show them. */
@Tag("fast")
class MaskedUrlTest {
  @ParameterizedTest
  @CsvSource({
    "https://hooks.example/, https://hooks.example/",
    "https://hooks.example, https://hooks.example",
    "https://me:pa55@hooks.example/a, https://***@hooks.example/a",
    "https://me@hooks.example?a=1, https://***@hooks.example?a=1",
    "https://a@b@hooks.example/, https://***@hooks.example/",
    "https://h.example/in?team=red&token=x, https://h.example/in?team=red&token=***",
    "https://h.example/in?API_KEY=x1&n=2, https://h.example/in?API_KEY=***&n=2",
    "https://h.example/?x=Zk3PqV9sLw8TdRb1, https://h.example/?x=***",
    "https://h.example/?Zk3PqV9sLw8TdRb1, https://h.example/?***",
    "https://h.example/services/T01/B02/Zk3PqV9sLw8TdRb1yourN5m, https://h.example/services/T01/B02/***",
    "https://h.example/v2/events?source=bourse-production, https://h.example/v2/events?source=bourse-production",
    "s3://bucket/trail/prefix, s3://bucket/trail/prefix",
    "https://h.example/?q=a/b&sig=, https://h.example/?q=a/b&sig=***"
  })
  void whatAdmitsASenderIsMasked(String url, String shown) {
    assertEquals(shown, MaskedUrl.of(url));
  }
}
