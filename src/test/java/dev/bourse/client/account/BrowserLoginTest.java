package dev.bourse.client.account;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ConsentBrowser;
import dev.bourse.testing.DevicePage;
import dev.bourse.testing.MemberShell;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sign-in with the browser of the same machine. */
@ReplayedOnPostgres
@SuppressWarnings("NullAway.Init") // JUnit sets the folder before each test.
class BrowserLoginTest {
  private static RunningBourse bourse;
  private static String url;
  private static ConsentBrowser alice;

  private final List<CompletableFuture<Void>> browsing = new ArrayList<>();

  @TempDir private Path home;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    url = bourse.service().baseUrl();
    alice = new ConsentBrowser(bourse, "acme", "alice");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** A desktop whose browser runs this when a page is opened. */
  private MemberShell desktop(Consumer<String> browser) {
    return new MemberShell(home)
        .inRealTime()
        .browsing(door -> browsing.add(CompletableFuture.runAsync(() -> go(browser, door))));
  }

  /** The target of the address that a browser is started with. */
  private static String entered(String door) {
    HttpResponse<String> answer = ConsentBrowser.visit(door);
    assertEquals(302, answer.statusCode());
    return answer.headers().firstValue("location").orElseThrow();
  }

  /** Runs a browser; a failure ends the wait too, so that the test fails at once. */
  private static void go(Consumer<String> browser, String door) {
    try {
      browser.accept(entered(door));
    } catch (AssertionError | RuntimeException e) {
      // The second visit has the effect.
      ConsentBrowser.visit(door);
      throw e;
    }
  }

  /** Waits for the browser, and passes on its failure. */
  private void untilBrowsed() {
    browsing.forEach(CompletableFuture::join);
  }

  @Test
  void aMemberWhoAllowsInTheBrowserIsSignedIn() {
    List<HttpResponse<String>> end = new ArrayList<>();
    MemberShell shell = desktop(page -> end.add(ConsentBrowser.visit(alice.decide(page, "allow"))));
    MemberShell.Outcome login = shell.run("login", "--url", url).ended(0);
    untilBrowsed();
    login.says("\n    " + url + "/oauth/authorize?response_type=code&client_id=bourse-cli&");
    login.says("Signed in at " + url + " as alice of acme.\n");
    assertEquals(200, end.get(0).statusCode());
    assertTrue(end.get(0).body().contains("You may close this page."), end.get(0).body());
    assertEquals("no-referrer", end.get(0).headers().firstValue("referrer-policy").orElse(""));
    shell.run("whoami").ended(0).says("alice");
    shell.run("logout").ended(0).says("Signed out");
  }

  @Test
  void aBrowserIsStartedWithNothingOfTheSignInInItsArguments() {
    List<String> doors = new ArrayList<>();
    MemberShell shell = new MemberShell(home).browsing(doors::add);
    shell.run("login", "--url", url).ended(1);
    assertTrue(
        doors.get(0).matches("http://127\\.0\\.0\\.1:\\d+/begin/[A-Za-z0-9]{43}"), doors.get(0));
  }

  @Test
  void anAddressThatAnotherProgramOpenedTooEndsTheSignIn() {
    List<Integer> statuses = new ArrayList<>();
    MemberShell shell = new MemberShell(home).inRealTime();
    shell.browsing(
        door ->
            browsing.add(
                CompletableFuture.runAsync(
                    () -> {
                      assertEquals(404, ConsentBrowser.visit(door + "x").statusCode());
                      String page = entered(door);
                      statuses.add(ConsentBrowser.visit(door).statusCode());
                      alice.decide(page, "allow");
                    })));
    shell.run("login", "--url", url).ended(1).says("was opened twice");
    untilBrowsed();
    assertEquals(List.of(410), statuses);
    assertFalse(Files.exists(shell.credentials()));
  }

  @Test
  void theSignInRenewsItself() {
    MemberShell shell = desktop(page -> ConsentBrowser.visit(alice.decide(page, "allow")));
    shell.run("login", "--profile", "work", "--url", url, "--scope", "org:read").ended(0);
    JsonObject content = shell.stored();
    JsonObject account = content.getJsonObject("services").getJsonObject("work");
    account.put("access_token", "eyJ.no.more");
    shell.store(content);
    shell.run("whoami", "--profile", "work", "--fields", "scopes").ended(0).says("org:read");
  }

  @Test
  void aMemberWhoDeniesIsNotSignedIn() {
    List<HttpResponse<String>> end = new ArrayList<>();
    MemberShell shell = desktop(page -> end.add(ConsentBrowser.visit(alice.decide(page, "deny"))));
    shell.run("login", "--url", url).ended(1).says("the sign-in was denied");
    untilBrowsed();
    assertTrue(end.get(0).body().contains("was not allowed"), end.get(0).body());
    assertFalse(Files.exists(shell.credentials()));
  }

  @Test
  void anAnswerWithoutTheStateOfThisSignInIsTurnedAwayAndTheWaitGoesOn() {
    List<Integer> statuses = new ArrayList<>();
    MemberShell shell =
        desktop(
            page -> {
              String answer = alice.decide(page, "allow");
              Map<String, String> asked = ConsentBrowser.parameters(page);
              String state = asked.get("state");
              String callback = String.valueOf(asked.get("redirect_uri"));
              for (String forged :
                  List.of(
                      answer.replace(state, "another"),
                      answer.replace("state=" + state, "state="),
                      answer.replace("state=", "other="),
                      answer + "&state=" + state,
                      callback + "?error=access_denied",
                      callback,
                      callback + "x?state=" + state,
                      callback.replace("/callback", "/"))) {
                statuses.add(ConsentBrowser.visit(forged).statusCode());
              }
              statuses.add(ConsentBrowser.visit(answer).statusCode());
            });
    shell.run("login", "--url", url).ended(0).says("as alice of acme");
    untilBrowsed();
    assertEquals(List.of(400, 400, 400, 400, 400, 400, 404, 404, 200), statuses);
  }

  @Test
  void anAnswerOfAnotherServerIsNotBelieved() {
    MemberShell shell =
        desktop(
            page ->
                ConsentBrowser.visit(
                    alice
                        .decide(page, "allow")
                        .replaceFirst("iss=.*", "iss=https://evil.example")));
    shell.run("login", "--url", url).ended(1).says("from https://evil.example");
    assertFalse(Files.exists(shell.credentials()));
  }

  @Test
  void aCodeOfSomebodyElsesRequestIsRefused() {
    OAuthApplication thief = OAuthApplication.named(bourse, "bourse-cli");
    MemberShell shell =
        desktop(
            page -> {
              String answer = alice.decide(page, "allow");
              Map<String, String> mine = ConsentBrowser.parameters(page);
              Map<String, String> request = thief.request();
              request.put("redirect_uri", mine.get("redirect_uri"));
              String other = thief.code(request, OAuthApplication.signIn(bourse, "acme", "bob"));
              ConsentBrowser.visit(
                  answer.replace(
                      "code=" + ConsentBrowser.parameters(answer).get("code"), "code=" + other));
            });
    shell.run("login", "--url", url).ended(1).says("cannot sign in: invalid_grant");
    untilBrowsed();
  }

  @Test
  void afterTheAnswerThePortIsClosed() {
    List<String> ports = new ArrayList<>();
    MemberShell shell =
        desktop(
            page -> {
              ports.add(ConsentBrowser.parameters(page).get("redirect_uri"));
              ConsentBrowser.visit(alice.decide(page, "allow"));
            });
    shell.run("login", "--url", url).ended(0);
    untilBrowsed();
    assertThrows(AssertionError.class, () -> ConsentBrowser.visit(ports.get(0)));
  }

  @Test
  void whoNeverAnswersIsNotWaitedForForEver() {
    // Its waits take no time.
    MemberShell shell = new MemberShell(home).browsing(page -> {});
    shell.run("login", "--url", url).ended(1).says("nobody allowed the sign-in within 10 minutes");
    assertFalse(Files.exists(shell.credentials()));
  }

  @Test
  void whereThereIsNoBrowserOrWithDeviceACodeIsShown() {
    DevicePage page = new DevicePage(bourse, "acme", "alice");
    AtomicInteger waits = new AtomicInteger();
    MemberShell shell =
        new MemberShell(home)
            .atWait(
                () -> {
                  if (waits.getAndIncrement() == 0) {
                    page.answer(DevicePage.shownCode(bourse), "allow");
                  }
                });
    shell.run("login", "--url", url).ended(0).says("and enter the code");
    waits.set(0);
    List<String> opened = new ArrayList<>();
    shell.browsing(opened::add).run("login", "--device", "--url", url).ended(0);
    assertEquals(List.of(), opened);
  }

  @Test
  void noBrowserPrintsTheAddressAlone() {
    List<String> opened = new ArrayList<>();
    MemberShell shell = new MemberShell(home).browsing(opened::add);
    MemberShell.Outcome login = shell.run("login", "--no-browser", "--url", url).ended(1);
    login.says("To sign in, open in a browser of this computer\n\n    " + url);
    assertEquals(List.of(), opened);
    shell.run("login", "--no-browser", "--device", "--url", url).ended(2).says("leave out");
  }

  @Test
  void noTokenAndNoCodeIsPrinted() {
    List<String> secrets = new ArrayList<>();
    MemberShell shell =
        desktop(
            page -> {
              String answer = alice.decide(page, "allow");
              secrets.add(ConsentBrowser.parameters(answer).get("code"));
              ConsentBrowser.visit(answer);
            });
    MemberShell.Outcome login = shell.run("login", "--url", url).ended(0);
    untilBrowsed();
    secrets.add(shell.account(url).getString("access_token"));
    secrets.add(shell.account(url).getString("refresh_token"));
    secrets.forEach(secret -> assertFalse((login.out() + login.err()).contains(secret)));
  }
}
