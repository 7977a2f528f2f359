# Five nodes in a line, 200 m apart; the second walks away. Options as key=value:
# new (1: the new trace format), routing, ifq, traffic (cbr, tcp, message), mac (ON, OFF), seconds, trace.
array set option {new 1 routing AODV ifq Queue/DropTail/PriQueue traffic cbr mac ON seconds 4 trace out.tr}
foreach word $argv {
    set split [string first = $word]
    set option([string range $word 0 [expr {$split - 1}]]) [string range $word [expr {$split + 1}] end]
}
ns-random 1
set ns_ [new Simulator]
if {$option(new)} { $ns_ use-newtrace }
set trace [open $option(trace) w]
$ns_ trace-all $trace
set ground [new Topography]
$ground load_flatgrid 1000 500
set god_ [create-god 5]
$ns_ node-config -adhocRouting $option(routing) -topoInstance $ground -channel [new Channel/WirelessChannel] \
    -llType LL -macType Mac/802_11 -phyType Phy/WirelessPhy -propType Propagation/TwoRayGround \
    -antType Antenna/OmniAntenna -ifqType $option(ifq) -ifqLen 50 \
    -agentTrace ON -routerTrace ON -macTrace $option(mac) -movementTrace ON
for {set node 0} {$node < 5} {incr node} {
    set node_($node) [$ns_ node]
    $node_($node) random-motion 0
    $node_($node) set X_ [expr {10 + 200 * $node}]
    $node_($node) set Y_ 100
    $node_($node) set Z_ 0
}
$ns_ at 1.5 "$node_(1) setdest 200 450 300"
proc connect {sender receiver application} {
    global ns_ node_
    $ns_ attach-agent $node_(0) $sender
    $ns_ attach-agent $node_(3) $receiver
    $ns_ connect $sender $receiver
    $application attach-agent $sender
    $ns_ at 1.0 "$application start"
}
if {$option(traffic) eq "cbr"} {
    set source [new Application/Traffic/CBR]
    $source set packetSize_ 512
    $source set interval_ 0.4
    connect [new Agent/UDP] [new Agent/Null] $source
} elseif {$option(traffic) eq "tcp"} {
    connect [new Agent/TCP] [new Agent/TCPSink] [new Application/FTP]
} else {
    for {set node 0} {$node < 5} {incr node} {
        set agent_($node) [new Agent/MessagePassing]
        $node_($node) attach $agent_($node) 42
    }
    Agent/MessagePassing instproc recv {args} {}
    $ns_ at 1.0 "$agent_(1) sendto 512 hello -1 42"
    $ns_ at 1.2 "$agent_(2) sendto 512 hello -1 42"
}
$ns_ at $option(seconds) "close $trace; exit 0"
$ns_ run
