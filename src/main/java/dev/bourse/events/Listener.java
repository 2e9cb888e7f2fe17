package dev.bourse.events;

import java.util.concurrent.Executor;

/** Who is told what happens to a cluster. Called on its own loop only. */
interface Listener {
  /** Where it is called. */
  Executor loop();

  /** The cluster changed. */
  void take(Subscriber.Update update);

  /** Whether a rival is close. */
  void take(Subscriber.Threat threat);
}
