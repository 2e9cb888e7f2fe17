package dev.bourse.oauth;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that applications cannot take. */
@Tag("fast")
class ReservedNameTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Bourse",
        "bourse",
        " B O U R S E ",
        "B\u00f4urse",
        "Bourse Console",
        "bourse-cli",
        "The Bourse",
        "Official Bourse",
        "B0urse",
        "8our5e",
        "B\u043eurs\u0435",
        "\u0412ourse",
        "\uff22\uff4f\uff55\uff52\uff53\uff45",
        "\ud835\udc01\ud835\udc28\ud835\udc2e\ud835\udc2b\ud835\udc2c\ud835\udc1e",
        "B.o.u.r.s.e",
        "\u201cBourse\u201d"
      })
  void theNameOfThisServiceIsTakenHoweverItIsDrawn(String name) {
    assertTrue(ReservedName.isTaken(name), name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "Cursor", "Exporter for Bourse", "Course planner", "Bours", "Purse", "\u30dc"})
  void anyOtherNameIsFree(String name) {
    assertFalse(ReservedName.isTaken(name), name);
  }
}
