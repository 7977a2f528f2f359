"""CLONE (Zhang, Zhao, Cao and Das): communities by interest, routing by place; and grid-based CBR."""
