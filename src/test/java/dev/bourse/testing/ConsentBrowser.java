package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** A signed-in member's browser at the page on which a program of the same machine asks. */
public final class ConsentBrowser {
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final OAuthApplication program;
  private final String cookie;

  /** One in which this member has just signed in. */
  public ConsentBrowser(RunningBourse bourse, String orgId, String username) {
    program = OAuthApplication.named(bourse, "bourse-cli");
    cookie = OAuthApplication.signIn(bourse, orgId, username);
  }

  /** The parameters of an address. */
  public static Map<String, String> parameters(String url) {
    return OAuthApplication.parameters(URI.create(url));
  }

  /** Answers {@code allow} or {@code deny} on a page; where the browser is sent. */
  public String decide(String page, String decision) {
    assertTrue(page.startsWith(program.baseUrl() + "/oauth/authorize?"), page);
    Map<String, String> request = new LinkedHashMap<>(parameters(page));
    HttpResponse<String> answer = program.decide(request, cookie, decision);
    assertEquals(200, answer.statusCode(), answer.body());
    return OAuthApplication.onward(answer);
  }

  /** Asks an address of this machine. */
  public static HttpResponse<String> visit(String url) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofMinutes(1)).build();
    try {
      return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(url, e);
    }
  }
}
