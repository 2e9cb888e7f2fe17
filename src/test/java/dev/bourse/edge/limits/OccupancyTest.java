package dev.bourse.edge.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Bulkhead;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The memory of incoming bodies, in total and of one organization. */
@Tag("fast")
class OccupancyTest {
  private static final long BLOCK = 64 * 1_024;

  @Test
  void slowBodiesOfOneOrganizationLeaveRoomForOthers() {
    long room = ProcessLimits.of(64 << 20, 64 << 20, 10_000).blockBytes();
    Occupancy occupancy =
        new Occupancy(ProcessLimits.of(64 << 20, 64 << 20, 10_000), new ClientAddress(Set.of()));
    List<Bulkhead.Place> held = new ArrayList<>();
    Optional<Bulkhead.Place> taken = occupancy.reserveBlock("acme", BLOCK);
    while (taken.isPresent()) {
      held.add(taken.get());
      taken = occupancy.reserveBlock("acme", BLOCK);
    }
    assertEquals(room / 2, occupancy.blockBytes());
    assertTrue(occupancy.reserveBlock("globex", BLOCK).isPresent());
    held.forEach(Bulkhead.Place::close);
    assertEquals(BLOCK, occupancy.blockBytes());
  }
}
