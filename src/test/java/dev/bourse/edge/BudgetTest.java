package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static dev.bourse.edge.EdgeFixture.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.limits.ClientAddress;
import dev.bourse.edge.limits.EdgeLimits;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The budgets of a token and of a client address. */
class BudgetTest {
  private final AtomicLong nanos = new AtomicLong(1);

  private EdgeFixture serve(int perToken, int perAddress, int burst, String... proxies) {
    return new EdgeFixture(
        new EdgeConfig(
            "127.0.0.1",
            0,
            "",
            perToken,
            perAddress,
            burst,
            Set.of(proxies),
            EdgeLimits.standard()),
        new Sources(Clock.systemUTC(), nanos::get, new Random(1)));
  }

  @Test
  void eachAuthenticatedAnswerSaysWhatIsLeft() {
    try (EdgeFixture fixture = serve(60, 0, 0)) {
      HttpResponse<String> answer = fixture.get("/api/whoami");
      assertEquals("\"default\";r=59;t=1", header(answer, "ratelimit"));
      assertEquals("\"default\";q=60;w=60", header(answer, "ratelimit-policy"));
    }
  }

  @Test
  void aTokenOverItsBudgetWaitsForOneShareOfIt() {
    try (EdgeFixture fixture = serve(6, 0, 0)) {
      for (int i = 0; i < 6; i++) {
        assertEquals(200, fixture.get("/api/whoami").statusCode());
      }
      HttpResponse<String> answer = fixture.get("/api/whoami");
      assertEquals(429, answer.statusCode());
      assertEquals("rate-limited", json(answer).getString("error"));
      assertEquals(10, json(answer).getInteger("retry_after_s"));
      assertEquals("10", header(answer, "retry-after"));
      assertEquals("budget", json(answer).getString("reason"));
      assertEquals("\"default\";r=0;t=10", header(answer, "ratelimit"), "as Retry-After");
      nanos.addAndGet(10_000_000_000L);
      assertEquals(200, fixture.get("/api/whoami").statusCode());
    }
  }

  @Test
  void tokensDoNotShareABudget() {
    try (EdgeFixture fixture = serve(1, 0, 0)) {
      assertEquals(200, fixture.get("/api/whoami").statusCode());
      assertEquals(
          200,
          fixture.send("GET", "/api/whoami", null, "Authorization", "Bearer bare").statusCode());
    }
  }

  @Test
  void aRequestOverTheBudgetIsNotValidated() {
    try (EdgeFixture fixture = serve(1, 0, 0)) {
      assertEquals(422, fixture.put("{").statusCode());
      assertEquals(429, fixture.put("{").statusCode());
    }
  }

  @Test
  void anAddressOverItsBurstIsThrottledBeforeAuthentication() {
    try (EdgeFixture fixture = serve(0, 60, 2)) {
      assertEquals(401, fixture.send("GET", "/api/whoami", null).statusCode());
      assertEquals(404, fixture.send("GET", "/nothing", null).statusCode());
      HttpResponse<String> answer = fixture.send("GET", "/api/whoami", null);
      assertEquals(429, answer.statusCode());
      assertEquals("1", header(answer, "retry-after"));
      assertEquals("address", json(answer).getString("reason"));
    }
  }

  @Test
  void anAddressOverItsBurstKeepsItsConnectionForSecondsOnly() throws Exception {
    try (EdgeFixture fixture = serve(0, 60, 1);
        RawClient patient = new RawClient(fixture.port())) {
      String request = "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n";
      assertTrue(patient.send(request).until("}").startsWith("HTTP/1.1 404"));
      assertTrue(patient.send(request).until("}").startsWith("HTTP/1.1 429"));
      nanos.addAndGet(4_000_000_000L);
      // After waiting the second or so of Retry-After, it may continue over the same connection.
      assertTrue(patient.send(request).until("}").startsWith("HTTP/1.1 404"));
      assertTrue(patient.send(request).until("}").startsWith("HTTP/1.1 429"));
      nanos.addAndGet(6_000_000_000L);
      assertTrue(patient.isClosedSoon(60_000));
    }
  }

  @Test
  void aBudgetOfZeroIsNone() {
    try (EdgeFixture fixture = serve(0, 0, 0)) {
      assertEquals("", header(fixture.get("/api/whoami"), "ratelimit"));
    }
  }

  @Test
  void forwardedForCountsBehindATrustedProxyOnly() {
    try (EdgeFixture fixture = serve(0, 60, 1, "127.0.0.1")) {
      assertEquals(404, forwarded(fixture, "203.0.113.1"));
      assertEquals(404, forwarded(fixture, "203.0.113.2"));
      assertEquals(429, forwarded(fixture, "203.0.113.9, 203.0.113.2"));
    }
    try (EdgeFixture fixture = serve(0, 60, 1, "127.0.0.1")) {
      // The proxy's own line comes last, after any lines that the client made up.
      assertEquals(404, forwarded(fixture, "6.6.6.1", "203.0.113.1"));
      assertEquals(429, forwarded(fixture, "6.6.6.2", "203.0.113.1"));
    }
    try (EdgeFixture fixture = serve(0, 60, 1)) {
      assertEquals(404, forwarded(fixture, "203.0.113.1"));
      assertEquals(429, forwarded(fixture, "203.0.113.2"));
    }
  }

  private static int forwarded(EdgeFixture fixture, String... lines) {
    List<String> headers = new ArrayList<>();
    for (String line : lines) {
      headers.addAll(List.of("X-Forwarded-For", line));
    }
    return fixture.send("GET", "/nothing", null, headers.toArray(new String[0])).statusCode();
  }

  @Test
  void aProxyIsKnownHoweverItsAddressIsSpelled() {
    for (String spelled : List.of("2001:db8::1", "2001:DB8:0:0:0:0:0:1")) {
      assertEquals(
          "203.0.113.7",
          new ClientAddress(Set.of(spelled)).key("2001:db8:0:0:0:0:0:1", "203.0.113.7"),
          spelled);
    }
  }

  @Test
  void aTrustedNetworkIsBelievedAsAnAddressIs() {
    ClientAddress clients = new ClientAddress(Set.of("10.244.0.0/15", "fd00:1::/32", "192.0.2.1"));
    for (String proxy :
        List.of("10.244.0.0", "10.245.255.255", "fd00:1::7", "fd00:1:0:0:0:0:0:7", "192.0.2.1")) {
      assertEquals("198.51.100.1", clients.key(proxy, "6.6.6.6, 198.51.100.1"), proxy);
    }
    for (String stranger : List.of("10.243.255.255", "10.246.0.0", "192.0.2.2")) {
      assertEquals(stranger, clients.key(stranger, "198.51.100.1"));
    }
    assertEquals(clients.key("fd00:2::7", null), clients.key("fd00:2::7", "198.51.100.1"));
    // One proxy behind another, both of the network, and the client before them.
    assertEquals("198.51.100.1", clients.key("10.244.0.9", "6.6.6.6, 198.51.100.1, 10.245.3.4"));
  }

  @Test
  void anIpv6NetworkIsOneClient() {
    ClientAddress clients = new ClientAddress(Set.of("10.0.0.1", "10.0.0.2"));
    assertEquals(clients.key("2001:db8::1", null), clients.key("2001:db8:0:0:ffff::2", null));
    assertNotEquals(clients.key("2001:db8::1", null), clients.key("2001:db8:0:1::1", null));
    assertEquals("192.0.2.1", clients.key("192.0.2.1", "198.51.100.1"));
    assertEquals("198.51.100.1", clients.key("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2"));
    assertEquals("10.0.0.1", clients.key("10.0.0.1", "not an address"));
  }
}
