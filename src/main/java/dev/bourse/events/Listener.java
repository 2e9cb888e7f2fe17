package dev.bourse.events;

import java.util.concurrent.Executor;

/** Receives a cluster's events, on its own loop only. */
interface Listener {
  /** Returns the loop on which it is called. */
  Executor loop();

  /** The cluster changed. */
  void take(Subscriber.Update update);

  /** The state of the warning about a rival. */
  void take(Subscriber.Threat threat);
}
