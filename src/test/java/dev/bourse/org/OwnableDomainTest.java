package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which domains an organization can own. */
class OwnableDomainTest {
  @ParameterizedTest
  @ValueSource(strings = {"acme.example", "lab.acme.co.uk", "acme.com", "xn--bcher-kva.example"})
  void aNameThatIsRegisteredCanBeOwned(String domain) {
    assertDoesNotThrow(() -> OwnableDomain.require("value", domain));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "com",
        "co.uk",
        "github.io",
        "xn--55qx5d.cn",
        "gmail.com",
        "qq.com",
        "x..y",
        "a_b.c"
      })
  void aPublicSuffixAMailProviderAndNonsenseCannotBeOwned(String domain) {
    ApiException refusal =
        assertThrows(ApiException.class, () -> OwnableDomain.require("value", domain));
    assertEquals(ErrorCode.BAD_REQUEST, refusal.code());
    assertTrue(refusal.detail().contains(domain), refusal.detail());
  }

  @Test
  void aNameWithoutRoomForTheRecordIsRefused() {
    String label = "a".repeat(60) + ".";
    String longest = label.repeat(4) + "example";
    assertThrows(ApiException.class, () -> OwnableDomain.require("value", longest));
  }
}
