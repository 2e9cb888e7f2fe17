package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A signed-in member's browser at the page where a program's code is answered. */
public final class DevicePage {
  private static final Pattern CSRF = Pattern.compile("name=\"csrf\" value=\"([^\"]+)\"");
  private static final Pattern CODE = Pattern.compile("\\b([A-Z]{4}-[A-Z]{4})\\b");
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final String baseUrl;
  private final String cookie;

  /** One in which this member has just signed in. */
  public DevicePage(RunningBourse bourse, String orgId, String username) {
    baseUrl = bourse.service().baseUrl();
    cookie = OAuthApplication.signIn(bourse, orgId, username);
  }

  /** The code of the program that has shown one last. */
  public static String shownCode(RunningBourse bourse) {
    List<String> codes =
        RunningBourse.await(
            bourse
                .database()
                .read(
                    "SELECT user_code FROM oauth_device WHERE state = 'pending'"
                        + " ORDER BY created_at DESC",
                    List.of(),
                    row -> row.text("user_code")));
    assertTrue(!codes.isEmpty() && CODE.matcher(codes.get(0)).matches(), codes::toString);
    return codes.get(0);
  }

  /** Answers {@code allow} or {@code deny}. */
  public void answer(String code, String decision) {
    String page = send("GET", "/device?user_code=" + code, "").body();
    HttpResponse<String> asked =
        send("POST", "/device", "csrf=" + csrf(page) + "&user_code=" + code);
    assertEquals(200, asked.statusCode(), asked.body());
    HttpResponse<String> answered =
        send(
            "POST",
            "/device",
            "csrf=" + csrf(asked.body()) + "&user_code=" + code + "&decision=" + decision);
    assertEquals(200, answered.statusCode(), answered.body());
  }

  private static String csrf(String page) {
    Matcher matcher = CSRF.matcher(page);
    assertTrue(matcher.find(), page);
    return URLEncoder.encode(matcher.group(1), StandardCharsets.UTF_8);
  }

  private HttpResponse<String> send(String method, String path, String form) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(baseUrl + path))
            .timeout(Duration.ofMinutes(1))
            .header("Accept", "text/html")
            .header("Cookie", cookie)
            .method(
                method, form.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(form));
    if (!form.isEmpty()) {
      request.header("Content-Type", "application/x-www-form-urlencoded");
    }
    try {
      return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(method + " " + path, e);
    }
  }
}
