package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Browser;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page behind every address of the console. */
@Timeout(120)
class ShellApiTest extends SignInApiFixture {
  private static final List<String> ADDRESSES =
      List.of(
          "", "/", "/market", "/clusters/acme-train", "/clusters/a/b/c", "/market?hours=24&x=y");

  @Test
  void whoIsNotSignedInGoesToSignInAndComesBack() {
    for (String address : ADDRESSES) {
      HttpResponse<String> answer = browser().get("/console" + address);
      assertEquals(303, answer.statusCode(), address);
      String encoded =
          address.replace("/", "%2F").replace("?", "%3F").replace("=", "%3D").replace("&", "%26");
      assertEquals("/sign-in?return_to=%2Fconsole" + encoded, Browser.location(answer));
    }
  }

  @Test
  void aMemberGetsTheSamePageAtEveryAddress() {
    Browser alice = browser().signedIn("alice@acme.example");
    String page = "";
    for (String address : ADDRESSES) {
      HttpResponse<String> answer = alice.get("/console" + address);
      assertEquals(200, answer.statusCode(), address);
      assertTrue(page.isEmpty() || page.equals(answer.body()), address);
      page = answer.body();
      assertTrue(policy(answer).contains("require-trusted-types-for 'script'"), policy(answer));
    }
    assertTrue(page.contains("/console/app.js"), page);
  }

  @Test
  void operatorsSignInOnThePageItself() {
    for (String address : ADDRESSES) {
      HttpResponse<String> answer = browser().get("/operator" + address);
      assertEquals(200, answer.statusCode(), address);
      assertTrue(policy(answer).contains("frame-ancestors 'none'"), policy(answer));
    }
  }

  @Test
  void otherPathsAreNoAddressesOfIt() {
    Browser alice = browser().signedIn("alice@acme.example");
    for (String path :
        List.of("/consoles", "/console//market", "/console/./market", "/console%2Fmarket")) {
      assertEquals(404, alice.get(path).statusCode(), path);
    }
  }

  private static String policy(HttpResponse<String> answer) {
    return answer.headers().firstValue("content-security-policy").orElse("");
  }
}
