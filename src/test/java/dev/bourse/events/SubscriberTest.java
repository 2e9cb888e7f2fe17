package dev.bourse.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Sample;
import dev.bourse.events.Subscriber.EncodedEntry;
import dev.bourse.events.Subscriber.Threat;
import dev.bourse.events.Subscriber.Update;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The events of one client, and their order. */
@Tag("fast")
class SubscriberTest {
  private final List<String> sent = new ArrayList<>();
  private final Subscriber subscriber =
      new Subscriber(Runnable::run, bytes -> sent.add(bytes.toString()));

  private static ClusterView state(int gpus) {
    return Sample.views(Sample.declared(gpus)).get(0);
  }

  /** Returns an update with an entry of this id, after which so many GPUs are declared. */
  private static Update update(int id, int gpus) {
    return Update.of(
        id - 1, List.of(new EncodedEntry(id, Buffer.buffer("entry " + id + "\n"))), state(gpus));
  }

  @Test
  void nothingIsToldTwiceThatWasReadAsMissed() {
    subscriber.take(update(6, 16));
    List<EncodedEntry> missed =
        List.of(
            new EncodedEntry(5, Buffer.buffer("entry 5\n")),
            new EncodedEntry(6, Buffer.buffer("entry 6\n")));
    subscriber.startLive(4, missed, false, state(16), Threat.NONE);
    subscriber.take(update(7, 24));

    String all = String.join("", sent);
    assertEquals(all.indexOf("entry 6"), all.lastIndexOf("entry 6"));
    assertTrue(all.indexOf("entry 5") < all.indexOf("entry 6"), all);
    assertTrue(all.indexOf("entry 6") < all.indexOf("entry 7"), all);
  }

  @Test
  void whoCouldNotBeToldAllOfItIsToldTheNewestState() {
    for (int id = 1; id <= 100; id++) {
      subscriber.take(update(id, 8 * id));
    }
    subscriber.startLive(0, List.of(), false, state(0), Threat.NONE);

    String all = String.join("", sent);
    int gap = all.indexOf("event: gap\ndata: {\"last_event_id\":0}");
    assertTrue(gap > 0, "a gap is reported");
    assertTrue(all.indexOf("entry 100\n") > gap, "the newest state is sent");
    assertTrue(all.lastIndexOf("\"max_gpus\":800,") > gap, "the state is that of the newest");
    assertTrue(all.lastIndexOf("id: 100\n") > gap);
  }
}
