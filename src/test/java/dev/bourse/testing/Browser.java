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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a browser does as far as sign-in goes: it keeps cookies, follows nothing, fills forms. */
public final class Browser {
  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofMinutes(1))
          .build();

  /** Where the sign-in leads somebody who becomes a member by it. */
  public static final String WELCOME = "/console/welcome";

  private final RunningBourse bourse;
  private final String base;
  private String network = "";
  public final Map<String, String> cookies = new LinkedHashMap<>();

  public Browser(RunningBourse bourse) {
    this(bourse, bourse.service().baseUrl());
  }

  /** With the address it connects to, where that is not what the service calls itself. */
  public Browser(RunningBourse bourse, String address) {
    this.bourse = bourse;
    this.base = address;
  }

  /** From this address, where the service believes what a proxy on this machine says. */
  public Browser from(String network) {
    this.network = network;
    return this;
  }

  public HttpResponse<String> get(String path) {
    return send(request(path).GET());
  }

  public HttpResponse<String> post(String path, Map<String, String> fields, String... headers) {
    StringBuilder form = new StringBuilder();
    fields.forEach(
        (name, value) ->
            form.append(form.isEmpty() ? "" : "&")
                .append(name)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
    HttpRequest.Builder request =
        request(path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form.toString()));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return send(request);
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .timeout(Duration.ofMinutes(1))
            .header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    if (!network.isEmpty()) {
      request.header("X-Forwarded-For", network);
    }
    if (!cookies.isEmpty()) {
      StringBuilder line = new StringBuilder();
      cookies.forEach((n, v) -> line.append(line.isEmpty() ? "" : "; ").append(n + '=' + v));
      request.header("Cookie", line.toString());
    }
    return request;
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      HttpResponse<String> answer =
          HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
      for (String cookie : answer.headers().allValues("set-cookie")) {
        String pair = cookie.substring(0, cookie.indexOf(';'));
        String name = pair.substring(0, pair.indexOf('='));
        if (cookie.contains("Max-Age=0")) {
          cookies.remove(name);
        } else {
          cookies.put(name, pair.substring(name.length() + 1));
        }
      }
      return answer;
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public static String location(HttpResponse<String> answer) {
    assertEquals(303, answer.statusCode(), answer.body());
    return answer.headers().firstValue("location").orElseThrow();
  }

  /** The value of a page's first hidden field of this name. */
  public static String field(HttpResponse<String> page, String name) {
    Matcher field =
        Pattern.compile("name=\"" + name + "\" value=\"([^\"]*)\"").matcher(page.body());
    assertTrue(field.find(), page.statusCode() + " " + page.body());
    return field.group(1);
  }

  /** Asks for a link and has it mailed; the way to it, below the address. */
  public String askForLink(String email, String returnTo) {
    List<Path> before = mails(email);
    HttpResponse<String> page =
        get("/sign-in?return_to=" + URLEncoder.encode(returnTo, StandardCharsets.UTF_8));
    String sent =
        location(
            post(
                "/sign-in",
                Map.of(
                    "csrf", field(page, "csrf"),
                    "email", email,
                    "return_to", field(page, "return_to").replace("&amp;", "&"))));
    assertTrue(sent.equals("/sign-in/sent") || sent.startsWith("/sign-in/sent?return_to="), sent);
    return link(email, before.size());
  }

  /** The link of the mail to an address that came after so many. */
  public String link(String email, int after) {
    AtomicReference<String> found = new AtomicReference<>("");
    RunningBourse.until(
        "a mail to " + email,
        () -> {
          List<Path> mails = mails(email);
          if (mails.size() <= after) {
            return false;
          }
          found.set(text(mails.get(mails.size() - 1)));
          return true;
        });
    Matcher link = Pattern.compile("(?m)^https?://\\S+").matcher(found.get());
    assertTrue(link.find(), found.get());
    String url = link.group();
    String base = bourse.service().baseUrl();
    assertTrue(url.startsWith(base + "/sign-in/link?token="), url);
    return url.substring(base.length());
  }

  /** Mails to an address in the outbox, oldest first. */
  public List<Path> mails(String email) {
    String address = email.toLowerCase(Locale.ROOT);
    Path outbox = bourse.data().resolve("outbox");
    if (!Files.exists(outbox)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(outbox)) {
      return files
          .filter(file -> file.toString().endsWith(".eml"))
          .sorted()
          .filter(file -> text(file).contains("\r\nTo: " + address + "\r\n"))
          .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  public static String text(Path mail) {
    try {
      return Files.readString(mail);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Opens a link and presses its button. */
  public HttpResponse<String> follow(String link) {
    HttpResponse<String> page = get(link);
    if (page.statusCode() != 200) {
      return page;
    }
    return post(
        "/sign-in/link", Map.of("csrf", field(page, "csrf"), "token", field(page, "token")));
  }

  /** Signs in by mail; joins the first organization offered if no membership is there. */
  public Browser signedIn(String email) {
    HttpResponse<String> answer = follow(askForLink(email, ""));
    boolean isAsked = answer.statusCode() == 200;
    if (isAsked) {
      answer = choose(answer, field(answer, "org"));
    }
    assertTrue(
        location(answer).equals("/account") || (isAsked && location(answer).equals(WELCOME)),
        location(answer));
    return this;
  }

  /** Presses the button of an organization on the page that asks for one. */
  public HttpResponse<String> choose(HttpResponse<String> page, String orgId) {
    return post(
        "/sign-in/link",
        Map.of("csrf", field(page, "csrf"), "token", field(page, "token"), "org", orgId));
  }

  public boolean isSignedIn() {
    HttpResponse<String> page = get("/account");
    if (page.statusCode() == 303) {
      assertEquals("/sign-in?return_to=%2Faccount", location(page));
      return false;
    }
    assertEquals(200, page.statusCode(), page.body());
    return true;
  }
}
