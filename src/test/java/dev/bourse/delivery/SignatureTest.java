package dev.bourse.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signatures, compared with the specification's own library in both directions. */
@Tag("fast")
class SignatureTest {
  private static final byte[] OLD =
      "an old secret of thirty-two byte".getBytes(StandardCharsets.UTF_8);
  private static final byte[] NEW =
      "a new secret of thirty-two bytes".getBytes(StandardCharsets.UTF_8);
  private static final String BODY = "{\"type\":\"grant\",\"data\":{\"detail\":\"größer\"}}";

  private static Map<String, List<String>> headers(String signature, long seconds) {
    return new HashMap<>(
        Map.of(
            "webhook-id", List.of("msg_1"),
            "webhook-timestamp", List.of(String.valueOf(seconds)),
            "webhook-signature", List.of(signature)));
  }

  @Test
  void theExampleOfTheSpecificationIsSignedAsItSays() {
    byte[] secret = Base64.getDecoder().decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    assertEquals(
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        Signature.of(
            List.of(secret),
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1614265330,
            "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void theLibraryTakesASignatureByTheSecretAsMembersCopyIt() throws Exception {
    long now = System.currentTimeMillis() / 1000;
    String signature =
        Signature.of(List.of(NEW), "msg_1", now, BODY.getBytes(StandardCharsets.UTF_8));
    new Webhook(Signature.text(NEW)).verify(BODY, headers(signature, now));
    assertThrows(
        WebhookVerificationException.class,
        () -> new Webhook(Signature.text(OLD)).verify(BODY, headers(signature, now)));
  }

  @Test
  void whileASecretIsRotatedEitherTakesTheSignature() throws Exception {
    long now = System.currentTimeMillis() / 1000;
    String both =
        Signature.of(List.of(NEW, OLD), "msg_1", now, BODY.getBytes(StandardCharsets.UTF_8));
    for (byte[] secret : List.of(NEW, OLD)) {
      new Webhook(Signature.text(secret)).verify(BODY, headers(both, now));
    }
  }
}
