package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Response headers of untrusted files. */
@Tag("fast")
class ContentHeadersTest {
  private static Map<String, String> headers(String contentType, String fileName) {
    return ContentHeaders.of(new Content("ckp_1", 1, null, fileName, contentType, null), false);
  }

  private static String disposition(String contentType, String fileName) {
    return headers(contentType, fileName).getOrDefault("Content-Disposition", "");
  }

  @Test
  void everyFileIsServedInASandbox() {
    for (String type :
        new String[] {
          "text/html",
          "TEXT/HTML; charset=utf-8",
          "application/xhtml+xml",
          "image/svg+xml",
          "text/xml",
          "application/xml",
          "application/atom+xml",
          "text/xsl",
          "text/plain",
          "image/png",
          "application/json",
          "application/pdf",
          "application/octet-stream",
          "application/vnd.unheard-of"
        }) {
      String policy = headers(type, "f").getOrDefault("Content-Security-Policy", "");
      assertTrue(policy.startsWith("sandbox;"), type);
    }
  }

  @Test
  void scriptsAreAlwaysAttachments() {
    for (String type :
        new String[] {
          "text/javascript",
          "application/javascript; charset=utf-8",
          "application/x-javascript",
          "text/ecmascript",
          "application/x-sh",
          "application/wasm"
        }) {
      assertTrue(disposition(type, "f").startsWith("attachment;"), type);
    }
    assertTrue(disposition("text/plain", "X.JS").startsWith("attachment;"));
    assertTrue(disposition("text/plain", "x.txt").startsWith("inline;"));
  }

  @Test
  void whatASystemInstallsIsAlwaysAnAttachment() {
    for (String type :
        new String[] {
          "application/x-x509-ca-cert",
          "application/X-X509-User-Cert; charset=binary",
          "application/pkix-cert",
          "application/x-pkcs12",
          "application/pkcs8",
          "application/x-pem-file",
          "application/x-apple-aspen-config",
          "application/x-wifi-config",
          "application/x-ns-proxy-autoconfig",
          "application/x-java-jnlp-file"
        }) {
      assertTrue(disposition(type, "f").startsWith("attachment;"), type);
    }
    for (String name : new String[] {"ca.CRT", "wifi.mobileconfig", "site.url", "vpn.ovpn"}) {
      assertTrue(disposition("text/plain", name).startsWith("attachment;"), name);
    }
  }

  @Test
  void aPlainNameStandsAlone() {
    assertEquals(
        "inline; filename=\"notes 1.md\"", ContentHeaders.disposition("notes 1.md", false));
  }

  @Test
  void anotherNameIsToldTwice() {
    assertEquals(
        "attachment; filename=\"na_ve__.txt\"; filename*=UTF-8''na%C3%AFve%22%25.txt",
        ContentHeaders.disposition("naïve\"%.txt", true));
  }
}
