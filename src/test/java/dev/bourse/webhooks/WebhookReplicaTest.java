package dev.bourse.webhooks;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.Receiver.Received;
import dev.bourse.testing.ReplicaPair;
import dev.bourse.testing.Slow;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two processes on one database deliver each event in order, and one takes over from the other. */
@OneEngine("only PostgreSQL is shared by several processes")
class WebhookReplicaTest {
  private static final String CLUSTER = "acme-train";
  private static final int ROUNDS = 10;

  /** Returns the events stored since the endpoint was created. */
  private static List<Long> happened(ReplicaPair pair) {
    return pair.numbers(
        """
        SELECT id FROM activity WHERE cluster = 'acme-train'
        AND event IN ('granted', 'released', 'unwound') ORDER BY id\
        """);
  }

  /** Returns the positions of received events, in the order of their first arrival. */
  private static List<Long> told(Receiver receiver) {
    return receiver.taken().stream()
        .map(message -> message.data().getLong("id"))
        .distinct()
        .toList();
  }

  private static void comeAndGo(ClusterClient cluster) {
    cluster.declare(1, 3);
    cluster.untilHeld(1);
    cluster.declare(0, 3);
    cluster.untilHeld(0);
  }

  @Test
  @Slow("starts two processes")
  void nothingIsLostOrOutOfOrderWhenTheProcessThatDeliversIsKilled() throws Exception {
    try (Receiver receiver = new Receiver();
        ReplicaPair pair =
            new ReplicaPair(
                "secret.key=" + WebhookFixture.SECRET_KEY, "webhooks.private-hosts=localhost")) {
      HttpAnswer made =
          pair.member(pair.first(), "acme", "alice")
              .post(WebhookFixture.ROOT, WebhookFixture.order(receiver.url(), "grant", "reclaim"));
      assertEquals(201, made.status(), made.toString());
      pair.client(pair.first(), CLUSTER).addKey();
      ClusterClient first = pair.client(pair.first(), CLUSTER);
      for (int round = 0; round < ROUNDS; round++) {
        comeAndGo(first);
      }
      until("all has come", () -> told(receiver).size() == happened(pair).size());
      assertEquals(happened(pair), told(receiver));
      // Only one process delivers: no event arrived twice.
      assertEquals(receiver.received().size(), told(receiver).size());
      assertEquals(1, pair.number("SELECT COUNT(*) FROM webhook_lease WHERE name = 'delivery'"));

      comeAndGo(first);
      pair.first().kill();
      // The killed process left its lease. The test deletes it instead of waiting 40 s.
      assertEquals(1, pair.number("SELECT COUNT(*) FROM webhook_lease WHERE name = 'delivery'"));
      pair.execute("UPDATE webhook_lease SET expires_at = 0 WHERE name = 'delivery'");
      ClusterClient second = pair.client(pair.second(), CLUSTER);
      second.declare(1, 3);
      second.untilHeld(1);
      until("the other process continues", () -> told(receiver).size() == happened(pair).size());
      assertEquals(happened(pair), told(receiver));
      for (Received message : receiver.received()) {
        assertEquals("msg_cluster_" + message.data().getLong("id"), message.id());
      }
    }
  }
}
