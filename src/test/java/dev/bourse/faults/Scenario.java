package dev.bourse.faults;

/** One kind of fault, and what the service has to do under it. */
interface Scenario {
  /** Why it cannot be tried on this machine; empty when it can. */
  default String leftOut() throws Exception {
    return "";
  }

  /** Makes a world, injects faults while clients are at work, and has the record judged. */
  void run(Run run) throws Exception;
}
