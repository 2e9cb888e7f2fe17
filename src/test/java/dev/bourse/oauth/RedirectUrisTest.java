package dev.bourse.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Redirect addresses that applications may register. */
@Tag("fast")
class RedirectUrisTest {
  @Test
  void schemesThatRunReadOrSendSomethingAreNeverAllowed() {
    for (String uri :
        List.of(
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "vbscript:x",
            "data:text/html,x",
            "DATA:text/html,x",
            "file:///etc/passwd",
            "blob:https://app.example/x",
            "about:blank",
            "view-source:https://app.example/",
            "filesystem:https://app.example/x",
            "jar:file:///x",
            "chrome://settings",
            "chrome-extension://abc/x",
            "intent://x",
            "mailto:mallory@evil.example",
            "tel:1",
            "sms:1",
            "ms-msdt:/id",
            "search-ms:query",
            "ssh://evil.example",
            "smb://evil.example/x",
            "ldap://evil.example/x",
            "ws://app.example/",
            "ftp://app.example/")) {
      assertTrue(RedirectUris.fault(uri).isPresent(), uri);
    }
  }

  @Test
  void schemesOfApplicationsOwnAreAllowedInSmallLetters() {
    for (String uri :
        List.of(
            "cursor://anysphere.cursor-retrieval/oauth/user-bourse/callback",
            "vscode://vscode.github-authentication/did-authenticate",
            "com.example.app:/cb",
            "com.example.app:cb")) {
      assertEquals(Optional.empty(), RedirectUris.fault(uri), uri);
    }
    for (String uri :
        List.of("Cursor://x", "COM.example.app:/cb", "httpx://x", "a_b://x", "1app://x", ":/x")) {
      assertTrue(RedirectUris.fault(uri).isPresent(), uri);
    }
  }
}
