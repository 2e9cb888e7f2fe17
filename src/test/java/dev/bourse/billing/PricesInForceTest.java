package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.billing.PricesInForce.Declared;
import dev.bourse.billing.PricesInForce.Read;
import dev.bourse.billing.Usage.ChangePoint;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The ceiling in force is that of the last tick, or a lower one that is due. */
@Tag("fast")
class PricesInForceTest {
  /** A corrected clock leaves two declarations with the same time. */
  @Test
  void ofTwoDeclarationsOfOneMomentTheLaterIsInForceThoughItWasDueFirst() {
    List<ChangePoint> ceilings =
        PricesInForce.ceilings(
            List.of(new Read(0, 900, 0)),
            List.of(new Declared(10, 30, 200), new Declared(10, 20, 500)));

    assertEquals(
        List.of(new ChangePoint(0, 900L), new ChangePoint(20, 500L), new ChangePoint(30, 500L)),
        ceilings);
  }
}
