package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class ReturnToTest {
  @Test
  void openRedirectAPathOfThisServiceIsKept() {
    for (String path :
        List.of("/account", "/device?user_code=A", "/a/b?c=https://x.example", "/")) {
      assertEquals(path, ReturnTo.safe(path));
    }
  }

  @Test
  void openRedirectAnythingElseLeadsToTheAccount() {
    for (String elsewhere :
        List.of(
            "",
            "account",
            "//x.example",
            "///x.example",
            "/\\x.example",
            "\\/x.example",
            "/a\\b",
            "/\t/x.example",
            "/\r\nLocation: https://x.example",
            "https://x.example",
            "HTTPS:x.example",
            "javascript:alert(1)",
            " /account",
            "/é",
            "/" + "a".repeat(5_000))) {
      assertEquals("/account", ReturnTo.safe(elsewhere), elsewhere);
    }
  }
}
