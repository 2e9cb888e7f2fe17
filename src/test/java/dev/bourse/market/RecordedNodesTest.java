package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Machine;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The exact text of answers on held nodes, with a distinct value in each member. */
@Tag("fast")
class RecordedNodesTest {
  private static final long T0 = 1_700_000_000_000L;

  @Test
  void hostKeys() {
    assertEquals(
        """
        {"host_keys":[{"public_ip":"10.0.0.1","ssh_port":2222,"host_key":"ssh-ed25519 AAAA"},\
        {"public_ip":"10.0.0.2","ssh_port":22,"host_key":null}]}\
        """,
        HeldNodeRoutes.toJson(
                List.of(
                    new Machine("n1", "10.0.0.1", 2222, "ssh-ed25519 AAAA", "sha"),
                    new Machine("n2", "10.0.0.2", 22, null)))
            .toBuffer()
            .toString());
  }

  @Test
  void aHandover() {
    Handover handover =
        new Handover("a1", "n1", T0, new Cleaning(1, 2, 3, 4, "sha"), "ssh-ed25519 AAAA");
    assertEquals(
        """
        {"public_ip":"10.0.0.1","handover":{"cleaned_at":"2023-11-14T22:13:20.000Z",\
        "duration_s":1,"processes_ended":2,"files_removed":3,"ipc_objects_removed":4,\
        "baseline":"sha","reimaged":true}}\
        """,
        HeldNodeRoutes.toJson("10.0.0.1", List.of(handover)).toBuffer().toString());
    assertEquals(
        "{\"public_ip\":\"10.0.0.1\",\"handover\":null}",
        HeldNodeRoutes.toJson("10.0.0.1", List.of()).toBuffer().toString());
  }
}
