package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ReplayedOnPostgres;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Mailed sign-in links: their targets, their single use, and the information they reveal. */
@ReplayedOnPostgres
class SignInLinkApiTest extends SignInApiFixture {
  @Test
  void aMailedLinkSignsAMemberIn() {
    Browser alice = browser();
    HttpResponse<String> entered =
        alice.follow(alice.askForLink("Alice@Acme.example", "/oauth/authorize?a=b&c=d"));
    assertEquals("/oauth/authorize?a=b&c=d", Browser.location(entered));
    HttpResponse<String> account = alice.get("/account");
    assertTrue(account.body().contains("alice@acme.example"), account.body());
    assertTrue(account.body().contains("This browser"), account.body());
    assertEquals("/account", Browser.location(alice.get("/sign-in")));
  }

  @Test
  void openRedirectTheSignInLeadsToPlacesOfOursAlone() {
    for (String elsewhere :
        List.of(
            "https://evil.example/",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "javascript:alert(1)",
            "%2F%2Fevil.example",
            "evil.example",
            "")) {
      Browser bob = browser();
      String link = bob.askForLink("bob@acme.example", elsewhere);
      assertEquals("/account", Browser.location(bob.follow(link)), elsewhere);
      assertEquals(
          "/account",
          Browser.location(
              bob.get(
                  "/sign-in?return_to="
                      + java.net.URLEncoder.encode(elsewhere, StandardCharsets.UTF_8))),
          elsewhere);
    }
    Browser bob = browser();
    HttpResponse<String> page = bob.get("/sign-in");
    String link = bob.askForLink("bob@acme.example", "/device?user_code=ABCD-EFGH");
    assertEquals(200, page.statusCode());
    assertEquals("/device?user_code=ABCD-EFGH", Browser.location(bob.follow(link)));
  }

  @Test
  void aLinkThatAStrangerAskedForLeadsToTheAccountAlone() {
    for (String place : List.of("/device?user_code=BCDF-GHJK", "/oauth/authorize?client_id=x")) {
      String link = browser().askForLink("alice@acme.example", place);
      Browser alice = browser();
      assertEquals("/account", Browser.location(alice.follow(link)), place);
      assertEquals(
          "/account",
          Browser.location(alice.follow(browser().askForLink("alice@acme.example", place))),
          place);
    }
    Browser asking = browser();
    String first = asking.askForLink("alice@acme.example", "/device");
    asking.askForLink("alice@acme.example", "/account");
    assertEquals("/device", Browser.location(asking.follow(first)), "one's own leads on");
  }

  @Test
  void aLinkIsNotSpentByASignInThatFails() {
    String orgId = organization();
    addMember(orgId, "pat", "pat@" + orgId + ".example");
    Browser pat = browser();
    String link = pat.askForLink("pat@" + orgId + ".example", "");
    String member = path(orgId) + "/members/pat";
    operator.patch(member, new JsonObject().put("suspended", true)).ok();
    assertEquals(403, pat.follow(link).statusCode());
    operator.patch(member, new JsonObject().put("suspended", false)).ok();
    assertEquals("/account", Browser.location(pat.follow(link)));
    assertEquals(410, pat.get(link).statusCode());
  }

  @Test
  void theKelvinSignIsNoLetterOfAnAddress() {
    String kelvin = "\u212a";
    Browser visitor = browser();
    String csrf = Browser.field(visitor.get("/sign-in"), "csrf");
    assertEquals(
        422,
        visitor
            .post("/sign-in", Map.of("csrf", csrf, "email", kelvin + "im@acme.example"))
            .statusCode());
    String orgId = organization();
    JsonObject person = new JsonObject().put("username", "kim").put("name", "Kim");
    for (String email :
        List.of(kelvin + "im@x.example", "kim@\u017f.example", "k\u0130m@x.example")) {
      operator
          .post(path(orgId) + "/members", person.put("email", email))
          .refused(ErrorCode.BAD_REQUEST);
      operator
          .post(path(orgId) + "/invitations", new JsonObject().put("email", email))
          .refused(ErrorCode.BAD_REQUEST);
    }
    operator
        .post(
            path(orgId) + "/rules",
            new JsonObject().put("kind", "domain").put("value", "ban" + kelvin + ".example"))
        .refused(ErrorCode.BAD_REQUEST);
  }

  private static String otherBrowsersLink() {
    return browser().askForLink("alice@acme.example", "");
  }

  @Test
  void emailHeaderInjectionAnAddressWithMoreThanAnAddressIsRefused() {
    for (String email :
        List.of(
            "alice@acme.example\r\nBcc: x@evil.example",
            "alice@acme.example\nBcc: x@evil.example",
            "alice@acme.example,x@evil.example",
            "<alice@acme.example>",
            "\"a\r\n\"@acme.example",
            "alice@acme.example%0d%0aBcc:x@evil.example",
            "alice")) {
      Browser visitor = browser();
      HttpResponse<String> page = visitor.get("/sign-in");
      HttpResponse<String> answer =
          visitor.post("/sign-in", Map.of("csrf", Browser.field(page, "csrf"), "email", email));
      assertEquals(422, answer.statusCode(), email);
      assertTrue(answer.body().contains("aria-describedby=\"email-fault\""), answer.body());
    }
  }

  @Test
  void hostHeaderPoisoningLinksBeginWithTheAddressOfTheService() throws IOException {
    Browser visitor = browser();
    String csrf = Browser.field(visitor.get("/sign-in"), "csrf");
    int before = visitor.mails("bob@acme.example").size();
    String body = "csrf=" + csrf + "&email=bob%40acme.example";
    URI address = URI.create(bourse.service().baseUrl());
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort())) {
      socket
          .getOutputStream()
          .write(
              ("POST /sign-in HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n"
                      + "Forwarded: host=evil.example\r\nConnection: close\r\n"
                      + "Content-Type: application/x-www-form-urlencoded\r\n"
                      + "Cookie: bourse-visitor="
                      + visitor.cookies.get("bourse-visitor")
                      + "\r\nContent-Length: "
                      + body.length()
                      + "\r\n\r\n"
                      + body)
                  .getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      String answer = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(answer.startsWith("HTTP/1.1 303"), answer);
      assertFalse(answer.contains("evil"), answer);
    }
    // Compares the link with the address.
    visitor.link("bob@acme.example", before);
    assertFalse(Browser.text(visitor.mails("bob@acme.example").get(before)).contains("evil"));
  }

  @Test
  void linkReuseALinkWorksOnceAndOpeningItUsesNothingUp() {
    Browser alice = browser();
    String link = alice.askForLink("alice@acme.example", "");
    for (int i = 0; i < 3; i++) {
      assertEquals(200, browser().get(link).statusCode(), "a scanner opens it");
    }
    alice.follow(link);
    assertTrue(alice.isSignedIn());
    assertEquals(410, browser().get(link).statusCode());
    Browser other = browser();
    String csrf = Browser.field(other.get("/sign-in"), "csrf");
    assertEquals(
        410,
        other
            .post(
                "/sign-in/link",
                Map.of("csrf", csrf, "token", link.substring(link.indexOf('=') + 1)))
            .statusCode());
    assertFalse(other.isSignedIn());
  }

  @Test
  void linkReuseOfManyWhoTryAtOnceOneSucceeds() {
    String link = otherBrowsersLink();
    List<Browser> browsers = IntStream.range(0, 6).mapToObj(i -> browser()).toList();
    List<CompletableFuture<HttpResponse<String>>> racing =
        browsers.stream()
            .map(one -> CompletableFuture.supplyAsync(() -> one.follow(link)))
            .toList();
    assertEquals(1, racing.stream().filter(each -> each.join().statusCode() == 303).count());
    assertEquals(1, browsers.stream().filter(Browser::isSignedIn).count());
  }

  @Test
  void timingOfUnknownEmailsTheAnswerIsTheSameByteForByte() {
    Browser visitor = browser();
    String csrf = Browser.field(visitor.get("/sign-in"), "csrf");
    Map<String, List<String>> known = new TreeMap<>();
    for (String email : List.of("alice@acme.example", "nobody@nowhere.example")) {
      HttpResponse<String> answer = visitor.post("/sign-in", Map.of("csrf", csrf, "email", email));
      assertEquals(303, answer.statusCode());
      assertEquals("", answer.body());
      Map<String, List<String>> headers = new TreeMap<>(answer.headers().map());
      headers.remove("x-request-id");
      headers.remove("date");
      // What the visitor typed is sent back to the visitor.
      String typed =
          Base64.getUrlEncoder()
              .withoutPadding()
              .encodeToString(email.getBytes(StandardCharsets.US_ASCII));
      headers.computeIfPresent(
          "set-cookie",
          (name, values) -> values.stream().map(value -> value.replace(typed, "TYPED")).toList());
      if (known.isEmpty()) {
        known.putAll(headers);
      }
      assertEquals(known, headers);
    }
    visitor.askForLink("bob@acme.example", "");
    assertEquals(List.of(), visitor.mails("nobody@nowhere.example"));
  }

  @Test
  void theOutboxIsForTheServiceAlone() throws IOException {
    browser().askForLink("alice@acme.example", "");
    var outbox = bourse.data().resolve("outbox");
    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(outbox)));
    for (var mail : browser().mails("alice@acme.example")) {
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(mail)));
    }
  }
}
