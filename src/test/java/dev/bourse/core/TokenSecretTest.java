package dev.bourse.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The text form of a token. */
@Tag("fast")
class TokenSecretTest {
  private final long seed = new Random().nextLong();
  private final Random random = new Random(seed);

  @Test
  void aMintedTokenParsesBackToItself() {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 2_000; i++) {
      TokenSecret minted = TokenSecret.mint(random);
      assertEquals(12, minted.tokenId().length());
      assertEquals(38, minted.secret().length());
      assertTrue(minted.text().matches("brs_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}"), minted.text());
      assertEquals(Optional.of(minted), TokenSecret.parse(minted.text()), "seed " + seed);
      assertTrue(seen.add(minted.text()));
    }
  }

  @Test
  void oneMistypedCharacterOfTheSecretIsToldBeforeAnyLookUp() {
    for (int i = 0; i < 2_000; i++) {
      String text = TokenSecret.mint(random).text();
      int at = 17 + random.nextInt(38);
      char other =
          (char) (random.nextBoolean() ? 'a' + random.nextInt(26) : '0' + random.nextInt(10));
      String mistyped = text.substring(0, at) + other + text.substring(at + 1);
      assertEquals(mistyped.equals(text), TokenSecret.parse(mistyped).isPresent(), "seed " + seed);
    }
  }

  @Test
  void anotherShapeIsNoToken() {
    String text = TokenSecret.mint(random).text();
    assertFalse(TokenSecret.parse("").isPresent());
    assertFalse(TokenSecret.parse(text + "x").isPresent());
    assertFalse(TokenSecret.parse(text.substring(1)).isPresent());
    assertFalse(TokenSecret.parse("BRS" + text.substring(3)).isPresent());
    assertFalse(TokenSecret.parse(text.substring(0, 16) + "-" + text.substring(17)).isPresent());
    assertFalse(TokenSecret.parse("brs_é" + text.substring(5)).isPresent());
  }

  @Test
  void theSecretIsNotInItsToString() {
    TokenSecret minted = TokenSecret.mint(random);
    assertFalse(minted.toString().contains(minted.secret()));
    assertTrue(minted.toString().contains(minted.tokenId()));
  }
}
