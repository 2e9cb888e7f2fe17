package dev.bourse.client.account;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.bourse.testing.DevicePage;
import dev.bourse.testing.MemberShell;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signing in and out on a command line. */
@ReplayedOnPostgres
class LoginCommandTest {
  private static RunningBourse bourse;
  private static String url;
  private static DevicePage alice;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    url = bourse.service().baseUrl();
    alice = new DevicePage(bourse, "acme", "alice");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** A command line whose user allows or denies during the first wait. */
  private static MemberShell answering(Path home, String decision) {
    AtomicInteger waits = new AtomicInteger();
    return new MemberShell(home)
        .atWait(
            () -> {
              if (waits.getAndIncrement() == 0) {
                alice.answer(DevicePage.shownCode(bourse), decision);
              }
            });
  }

  private static MemberShell signedIn(Path home) {
    MemberShell shell = answering(home, "allow");
    shell.run("login", "--url", url).ended(0);
    return shell;
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void aMemberWhoAllowsTheCodeIsSignedIn(@TempDir Path home) throws IOException {
    MemberShell shell = answering(home, "allow");
    MemberShell.Outcome login = shell.run("login", "--url", url).ended(0);
    assertTrue(login.out().startsWith("Open " + url + "/device and enter the code\n"), login.out());
    assertTrue(login.out().contains("or open " + url + "/device?user_code="), login.out());
    login.says("Signed in at " + url + " as alice of acme.\n");
    assertEquals("rw-------", mode(shell.credentials()));
    assertEquals("rwx------", mode(shell.credentials().resolveSibling(".")));
    shell.run("checkpoint", "list").ended(0);
  }

  @Test
  void severalSignInsAreKeptByNames(@TempDir Path home) {
    MemberShell shell = answering(home, "allow");
    shell.run("login", "--url", url).ended(0);
    String first = shell.account(url).getString("access_token");
    AtomicInteger waits = new AtomicInteger();
    shell.atWait(
        () -> {
          if (waits.getAndIncrement() == 0) {
            alice.answer(DevicePage.shownCode(bourse), "allow");
          }
        });
    shell.run("login", "--profile", "work", "--url", url, "--scope", "org:read").ended(0);
    assertEquals(first, shell.account(url).getString("access_token"), "each has its own");
    assertEquals(url, shell.account("work").getString("url"));
    // The last profile is the default; its scope is the requested one.
    shell.run("whoami", "--fields", "scopes").ended(0).says("org:read");
    shell.run("billing", "balance").ended(1).says("forbidden");
    shell.run("billing", "balance", "--url", url).ended(0);
    shell.with("BOURSE_PROFILE", "work").run("logout").ended(0).says("Signed out");
    shell.run("whoami").ended(2).says("bourse login --profile work --url " + url);
    shell.run("whoami", "--profile", "none").ended(2).says("there is no 'none', there are work");
    shell.run("whoami", "--profile", "../x").ended(2).says("is no name");
  }

  @Test
  void aProfilesTokenGoesToNoOtherService(@TempDir Path home) throws IOException {
    MemberShell shell = answering(home, "allow");
    shell.run("login", "--profile", "work", "--url", url).ended(0);
    AtomicInteger requests = new AtomicInteger();
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.createContext(
        "/",
        exchange -> {
          requests.incrementAndGet();
          exchange.close();
        });
    other.start();
    try {
      String there = "http://127.0.0.1:" + other.getAddress().getPort();
      String refusal = "profile work is at %s, not at %s; leave out --url".formatted(url, there);
      for (List<String> command :
          List.of(
              List.of("whoami"),
              List.of("status"),
              List.of("quote", "--gpus", "8", "--max-price", "2.00"),
              List.of("market", "pools"),
              List.of("logout"))) {
        List<String> typed = new ArrayList<>(command);
        typed.addAll(List.of("--profile", "work", "--url", there));
        shell.run(typed.toArray(String[]::new)).ended(2).says(refusal);
      }
      assertEquals(0, requests.get(), "requests to the other service");
      // Another sign-in there would replace it.
      shell.run("login", "--profile", "work", "--url", there).ended(3);
      assertTrue(requests.get() > 0);
    } finally {
      other.stop(0);
    }
    shell.run("whoami", "--profile", "work", "--url", url + '/').ended(0);
  }

  @Test
  void noTokenIsEverPrinted(@TempDir Path home) {
    MemberShell shell = answering(home, "allow");
    MemberShell.Outcome login = shell.run("login", "--url", url).ended(0);
    JsonObject account = shell.account(url);
    MemberShell.Outcome list = shell.run("checkpoint", "list", "--output", "json").ended(0);
    MemberShell.Outcome logout = shell.run("logout").ended(0);
    for (MemberShell.Outcome outcome : List.of(login, list, logout)) {
      for (String secret : List.of("access_token", "refresh_token")) {
        String text = account.getString(secret);
        assertFalse((outcome.out() + outcome.err()).contains(text), secret);
      }
    }
  }

  @Test
  void aMemberWhoDeniesIsNotSignedIn(@TempDir Path home) {
    MemberShell shell = answering(home, "deny");
    shell.run("login", "--url", url).ended(1).says("the sign-in was denied");
    assertFalse(Files.exists(shell.credentials()));
    shell.run("checkpoint", "list", "--url", url).ended(2).says("bourse login");
  }

  @Test
  void whoIsAskedToSlowDownAsksMoreSeldomAndGivesUpWhenTheCodeIsOver(@TempDir Path home) {
    MemberShell shell = new MemberShell(home);
    shell.run("login", "--url", url).ended(1).says("the code has expired");
    assertEquals(Duration.ofSeconds(5), shell.waits.get(0));
    // The shell waits in no time, so the service finds all polls but the first too early.
    assertEquals(Duration.ofSeconds(10), shell.waits.get(2));
    assertEquals(Duration.ofSeconds(15), shell.waits.get(3));
    assertTrue(shell.waits.size() < 20, shell.waits::toString);
  }

  @Test
  void aServiceThatAsksForAPollOncePerYearIsPolledEachMinute(@TempDir Path home)
      throws IOException {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    String there = "http://127.0.0.1:" + other.getAddress().getPort();
    JsonObject metadata =
        new JsonObject()
            .put("issuer", there)
            .put("authorization_endpoint", there + "/authorize")
            .put("device_authorization_endpoint", there + "/device")
            .put("token_endpoint", there + "/token")
            .put("revocation_endpoint", there + "/revoke")
            .put("grant_types_supported", new JsonArray().add(ServerMetadata.DEVICE_GRANT));
    JsonObject begun =
        new JsonObject()
            .put("device_code", "d")
            .put("user_code", "WDJB-MJHT")
            .put("verification_uri", there)
            .put("interval", Duration.ofDays(365).toSeconds());
    answer(other, "/.well-known/oauth-authorization-server", 200, metadata);
    answer(other, "/device", 200, begun);
    answer(other, "/token", 400, new JsonObject().put("error", "authorization_pending"));
    other.start();
    try {
      MemberShell shell = new MemberShell(home);
      shell.run("login", "--url", there).ended(1).says("the code has expired");
      assertEquals(Duration.ofMinutes(1), shell.waits.get(0));
    } finally {
      other.stop(0);
    }
  }

  private static void answer(HttpServer server, String path, int status, JsonObject body) {
    byte[] bytes = body.encode().getBytes(StandardCharsets.UTF_8);
    server.createContext(
        path,
        exchange -> {
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  private static void expire(MemberShell shell) {
    JsonObject content = shell.stored();
    content
        .getJsonObject("services")
        .getJsonObject(url)
        .put("expires_at", Instant.now().minusSeconds(1));
    shell.store(content);
  }

  @Test
  void aTokenThatRanOutIsRenewedByItself(@TempDir Path home) throws IOException {
    MemberShell shell = signedIn(home);
    JsonObject before = shell.account(url);
    expire(shell);
    shell.run("checkpoint", "list").ended(0);
    JsonObject after = shell.account(url);
    assertNotEquals(before.getString("access_token"), after.getString("access_token"));
    assertNotEquals(before.getString("refresh_token"), after.getString("refresh_token"));
    assertEquals("rw-------", mode(shell.credentials()));
  }

  @Test
  void aTokenTheServiceDoesNotTakeIsRenewedByItself(@TempDir Path home) {
    MemberShell shell = signedIn(home);
    JsonObject content = shell.stored();
    content.getJsonObject("services").getJsonObject(url).put("access_token", "eyJ.no.more");
    shell.store(content);
    shell.run("checkpoint", "list").ended(0);
  }

  @Test
  void commandsAtOnceRenewOnce(@TempDir Path home) {
    MemberShell shell = signedIn(home).inRealTime();
    expire(shell);
    List<CompletableFuture<MemberShell.Outcome>> commands = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      commands.add(CompletableFuture.supplyAsync(() -> shell.run("checkpoint", "list")));
    }
    commands.forEach(command -> command.join().ended(0));
    // A refresh token used twice would have ended the sign-in.
    expire(shell);
    shell.run("checkpoint", "list").ended(0);
  }

  @Test
  void aRefusedRenewalSaysToSignInAgain(@TempDir Path home) {
    MemberShell shell = signedIn(home);
    JsonObject content = shell.stored();
    JsonObject account = content.getJsonObject("services").getJsonObject(url);
    account.put("refresh_token", "brr_used").put("expires_at", Instant.EPOCH);
    shell.store(content);
    shell.run("checkpoint", "list").ended(1).says("sign in again: bourse login");
    assertNull(shell.account(url).getString("access_token"));
  }

  @Test
  void signingOutEndsTheSignInAtTheServiceToo(@TempDir Path home) {
    MemberShell shell = signedIn(home);
    String token = shell.account(url).getString("access_token");
    bourse.with(token).get("/api/checkpoints").ok();
    shell.run("logout").ended(0).says("Signed out at " + url);
    assertNull(shell.account(url).getString("access_token"));
    assertNull(shell.account(url).getString("refresh_token"));
    RunningBourse.until(
        "the token is refused", () -> bourse.with(token).get("/api/checkpoints").status() == 401);
    shell.run("logout").ended(0).says("Nobody was signed in");
  }

  @Test
  void signingOutOfAServiceThatIsAwayIsRefusedUnlessForced(@TempDir Path home) {
    MemberShell shell = signedIn(home);
    JsonObject content = shell.stored();
    JsonObject services = content.getJsonObject("services");
    JsonObject account = services.getJsonObject(url).copy();
    account.put("revocation_endpoint", "http://127.0.0.1:1/oauth/revoke");
    shell.store(content.put("services", services.put("http://127.0.0.1:1", account)));
    String[] logout = {"logout", "--url", "http://127.0.0.1:1"};
    shell.run(logout).ended(3).says("still signed in");
    assertEquals(account, shell.account("http://127.0.0.1:1"));
    shell.run("logout", "--url", "http://127.0.0.1:1", "--force").ended(0);
    assertNull(shell.account("http://127.0.0.1:1").getString("access_token"));
  }

  @Test
  void anAddressThatIsNotTheServicesOwnIsRefused(@TempDir Path home) {
    String other = url.replace("localhost", "127.0.0.1");
    new MemberShell(home).run("login", "--url", other).ended(1).says("calls itself " + url);
    new MemberShell(home).run("login", "--url", "localhost").ended(2).says("is not http(s)://");
    new MemberShell(home).run("login", "--url", "http://127.0.0.1:1").ended(3).says("cannot reach");
  }
}
