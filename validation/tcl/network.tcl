# A network of mobile nodes in ns-2, as all our comparisons want it. Options come as key=value on the command line.
array set option {
    nodes 2  width 1000  height 1000  seconds 10  seed 1  out /dev/null  trace /dev/null
    movement {}  schedule {}  routing DumbAgent  data 2Mb  basic 1Mb  rts 0  capture 10
    queue 50  prefer 0  feedback 0  cbr 0  ifq Queue/DropTail/PriQueue  agenttrace OFF  routertrace OFF  mactrace OFF
}
foreach word $argv {
    set split [string first = $word]
    set option([string range $word 0 [expr {$split - 1}]]) [string range $word [expr {$split + 1}] end]
}
ns-random $option(seed)
# A stream of its own: with the same seed, waits of agents would repeat the backoffs of the link.
set random [new RNG]
$random seed [expr {$option(seed) + 104729}]

Mac/802_11 set dataRate_ $option(data)
Mac/802_11 set basicRate_ $option(basic)
Mac/802_11 set RTSThreshold_ $option(rts)
Phy/WirelessPhy set CPThresh_ $option(capture)
# With 1 (its default) ns-2 puts routing packets, and those of message agents, at the head of the queue, the last
# first. It must be said before the nodes are made.
Queue/DropTail/PriQueue set Prefer_Routing_Protocols $option(prefer)
Agent/DSDV set use_mac_ $option(feedback)

set ns_ [new Simulator]
$ns_ use-newtrace
set trace [open $option(trace) w]
$ns_ trace-all $trace
set ground [new Topography]
$ground load_flatgrid [expr {int(ceil($option(width))) + 1}] [expr {int(ceil($option(height))) + 1}]
set god_ [create-god $option(nodes)]
$ns_ node-config -adhocRouting $option(routing) -topoInstance $ground -channel [new Channel/WirelessChannel] \
    -llType LL -macType Mac/802_11 -phyType Phy/WirelessPhy -propType Propagation/TwoRayGround \
    -antType Antenna/OmniAntenna -ifqType $option(ifq) -ifqLen $option(queue) \
    -agentTrace $option(agenttrace) -routerTrace $option(routertrace) -macTrace $option(mactrace) \
    -movementTrace OFF
for {set node 0} {$node < $option(nodes)} {incr node} {
    set node_($node) [$ns_ node]
    $node_($node) random-motion 0
}
if {$option(movement) ne ""} { source $option(movement) }
set out [open $option(out) w]

# Run to the end; `last` may write its counts first.
proc finish {} {
    global out trace
    if {[llength [info procs last]]} last
    close $out
    close $trace
    exit 0
}
$ns_ at $option(seconds) finish
