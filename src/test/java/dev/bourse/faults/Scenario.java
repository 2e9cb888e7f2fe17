package dev.bourse.faults;

/** One kind of fault, and what the service has to do under it. */
interface Scenario {
  /** Why it cannot be tried on this machine; empty when it can. */
  default String leftOut() throws Exception {
    return "";
  }

  /** After so many minutes it hangs: the longest takes some, with every kill asked for. */
  default int minutes() {
    return 12;
  }

  /** Makes a world, injects faults while clients are at work, and has the record judged. */
  void run(Run run) throws Exception;
}
